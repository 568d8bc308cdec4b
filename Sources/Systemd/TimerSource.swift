import CSystemd
import Glibc

/// A timer on the boot clock, which counts suspend and never steps.
///
/// It fires once for each ``arm(at:accuracy:)``. Thread-confined, as its loop is.
public final class TimerSource {
  private var source: OpaquePointer?
  private let handler: () -> Void

  init(on event: OpaquePointer, handler: @escaping () -> Void) throws(SystemdError) {
    self.handler = handler
    let callback: sd_event_time_handler_t = { _, _, context in
      guard let context else { return 0 }
      let timer = Unmanaged<TimerSource>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(timer) { timer.handler() }
      return 0
    }
    try check(
      sd_event_add_time(
        event, &source, CLOCK_BOOTTIME, 0, 1, callback, Unmanaged.passUnretained(self).toOpaque()),
      cannot: "make a timer on the boot clock")
    disarm()
  }

  deinit { cancel() }

  /// Fires once at or after an instant, in place of an earlier one.
  ///
  /// `bootMicroseconds` is on `CLOCK_BOOTTIME`; a past or negative instant fires at once. The timer may be up to
  /// `accuracy` microseconds late, so that wakes are shared. An accuracy below 1 counts as 1, because 0 would mean 250
  /// ms to sd-event(3).
  public func arm(at bootMicroseconds: Int64, accuracy microseconds: Int64) {
    guard let source else { return }
    require(sd_event_source_set_time(source, UInt64(max(0, bootMicroseconds))), "set a timer")
    require(sd_event_source_set_time_accuracy(source, UInt64(max(1, microseconds))), "set a timer's accuracy")
    require(sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT)), "arm a timer")
  }

  /// Disarms the timer.
  public func disarm() {
    guard let source else { return }
    require(sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)), "disarm a timer")
  }

  /// Ends the timer; the handler is not called again.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }
}

extension EventLoop {
  /// Makes a timer on `CLOCK_BOOTTIME`, which is not armed yet.
  public func timer(handler: @escaping () -> Void) throws(SystemdError) -> TimerSource {
    try TimerSource(on: event, handler: handler)
  }

  /// The time of the boot clock in microseconds, which counts suspend and never steps (`CLOCK_BOOTTIME`,
  /// clock_gettime(2)).
  public static func bootMicroseconds() -> Int64 { microseconds(of: CLOCK_BOOTTIME) }

  /// The wall time in microseconds since 1970 in UTC, which may step either way (`CLOCK_REALTIME`).
  public static func wallMicroseconds() -> Int64 { microseconds(of: CLOCK_REALTIME) }

  /// The time of the monotonic clock in microseconds, with which systemd compares reloads (`CLOCK_MONOTONIC`).
  public static func monotonicMicroseconds() -> Int64 { microseconds(of: CLOCK_MONOTONIC) }

  private static func microseconds(of clock: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(clock, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
  }
}

/// A watch on the wall clock: calls its handler each time that the clock has been set (timerfd_create(2)).
///
/// It causes no wakes. It is a timer in the far future, which the kernel cancels when the clock is set, also by a step of
/// NTP. Thread-confined, as its loop is.
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
