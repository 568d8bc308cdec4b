import CSystemd
import Glibc

/// A watch for the exceptional condition of a descriptor (`POLLPRI`, poll(2)), such as a pressure trigger.
///
/// This is no ``IOSource``, which sits in a second epoll(7) set. A check of a pressure trigger clears it, so the nested
/// set would lose most events. Thread-confined, as its loop is.
public final class UrgentSource {
  private var source: OpaquePointer?
  private let handler: () -> Void

  init(of descriptor: Int32, on event: OpaquePointer, handler: @escaping () -> Void) throws(SystemdError) {
    self.handler = handler
    let callback: sd_event_io_handler_t = { _, _, events, context in
      guard let context else { return 0 }
      let source = Unmanaged<UrgentSource>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(source) { source.receive(events) }
      return 0
    }
    try check(
      sd_event_add_io(
        event, &source, descriptor, EPOLLPRI.rawValue, callback, Unmanaged.passUnretained(self).toOpaque()),
      cannot: "watch descriptor \(descriptor)")
  }

  deinit { cancel() }

  /// Ends the watch; call this before you close the descriptor.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }

  private func receive(_ events: UInt32) {
    // An error lasts, and would be reported in every turn.
    guard events & EPOLLPRI.rawValue != 0 else { return cancel() }
    handler()
  }
}

extension EventLoop {
  /// Calls `handler` whenever `descriptor` has an exceptional condition, until the returned object is cancelled.
  public func watchUrgent(_ descriptor: Int32, handler: @escaping () -> Void) throws(SystemdError) -> UrgentSource {
    try UrgentSource(of: descriptor, on: event, handler: handler)
  }
}
