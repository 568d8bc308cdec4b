import RefreshEngine
import Systemd

/// The clocks, the timers and the turns of the daemon's one thread.
///
/// ``LoopScheduler`` is the event loop; a test gives a scheduler with virtual time.
protocol Scheduler: AnyObject {
  /// Reads both clocks.
  func now() -> Moment

  /// Makes a timer that is not armed yet.
  func timer(_ handler: @escaping () -> Void) throws(SystemdError) -> any WakeTimer

  /// Calls a handler, the only one, each time that the wall clock was set.
  func onClockSet(_ handler: @escaping () -> Void) throws(SystemdError)

  /// Runs work after the present handler has returned, in the order of the calls.
  func soon(_ work: @escaping () -> Void)

  func exit()
}

/// A timer on the boot clock; it goes off once each time it is armed.
protocol WakeTimer: AnyObject {
  /// Arms the timer for an instant, or up to `accuracy` microseconds later, in place of its earlier instant.
  func arm(at bootMicroseconds: Int64, accuracy: Int64)
  func disarm()
  func cancel()
}

extension TimerSource: WakeTimer {}

extension Scheduler {
  /// Arms a timer for a span from now.
  func arm(_ timer: (any WakeTimer)?, after span: Duration, accuracy: Int64) {
    timer?.arm(at: (now().instant + span).microseconds, accuracy: accuracy)
  }
}
