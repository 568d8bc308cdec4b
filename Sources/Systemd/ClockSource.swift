import CSystemd
import Glibc

/// A watch on the wall clock: its handler is called after each time that somebody has set it (timerfd_create(2)).
///
/// It costs nothing meanwhile: a timer in the far future, which the kernel cancels when the clock is set, also by a step
/// of NTP. Thread-confined, as its loop is.
public final class ClockSource {
  private let descriptor: Int32
  private var source: IOSource?

  init(on loop: EventLoop, handler: @escaping () -> Void) throws(SystemdError) {
    descriptor = systemd_clock_timer()
    guard descriptor >= 0 else { throw SystemdError(cannot: "make a timer on the wall clock", code: errno) }
    try check(systemd_clock_wait(descriptor) == 0 ? 0 : -errno, cannot: "watch the wall clock")
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
      var count: UInt64 = 0
      // ECANCELED says that the clock was set; the timer itself never goes off.
      let isSet = read(descriptor, &count, MemoryLayout.size(ofValue: count)) < 0 && errno == ECANCELED
      if isSet { handler() }
    }
  }

  deinit {
    source?.cancel()
    close(descriptor)
  }
}

extension EventLoop {
  /// Calls `handler` each time that the wall clock was set, until the source is released.
  public func onClockSet(handler: @escaping () -> Void) throws(SystemdError) -> ClockSource {
    try ClockSource(on: self, handler: handler)
  }
}
