import CSystemd
import Glibc

/// A signal as an event of the loop (signalfd(2)).
///
/// Thread-confined, as its loop is.
public final class SignalSource {
  private var source: OpaquePointer?
  private let handler: () -> Void

  init(on event: OpaquePointer, signal: Int32, handler: @escaping () -> Void) throws(SystemdError) {
    self.handler = handler
    var set = sigset_t()
    sigemptyset(&set)
    guard sigaddset(&set, signal) == 0 else { throw SystemdError(cannot: "watch signal \(signal)", code: errno) }
    // sd-event refuses a signal that is not blocked (EBUSY).
    try check(-pthread_sigmask(SIG_BLOCK, &set, nil), cannot: "block signal \(signal)")
    let callback: sd_event_signal_handler_t = { _, _, context in
      guard let context else { return 0 }
      let source = Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(source) { source.handler() }
      return 0
    }
    try check(
      sd_event_add_signal(event, &source, signal, callback, Unmanaged.passUnretained(self).toOpaque()),
      cannot: "watch signal \(signal)")
  }

  deinit { cancel() }

  /// Whether the handler is called; a signal that arrives meanwhile waits.
  public var isEnabled = true {
    didSet {
      let state = isEnabled ? SD_EVENT_ON : SD_EVENT_OFF
      require(sd_event_source_set_enabled(source, Int32(state)), "pause the watch of a signal")
    }
  }

  /// Ends the watch; the signal stays blocked, so that a pending one does not end the process.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }
}

extension EventLoop {
  /// Calls `handler` each time `signal` arrives; several in the same turn may count as one.
  ///
  /// This blocks the signal for the calling thread and for the threads that it starts later, so call it before the
  /// process has other threads. Throws `EBUSY` for a signal that is watched already.
  public func onSignal(_ signal: Int32, handler: @escaping () -> Void) throws(SystemdError) -> SignalSource {
    try SignalSource(on: event, signal: signal, handler: handler)
  }
}
