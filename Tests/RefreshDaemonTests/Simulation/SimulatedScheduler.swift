import RefreshEngine

@testable import RefreshDaemon

/// The clocks and timers of one life of the daemon; all of them are silent after a crash.
final class SimulatedScheduler: Scheduler {
  private final class Timer: WakeTimer {
    let handler: () -> Void
    let arming: (Int64, Int64) -> Int64
    var at: Int64?

    init(_ arming: @escaping (Int64, Int64) -> Int64, _ handler: @escaping () -> Void) {
      (self.arming, self.handler) = (arming, handler)
    }

    func arm(at bootMicroseconds: Int64, accuracy: Int64) { at = arming(bootMicroseconds, accuracy) }
    func disarm() { at = nil }
    func cancel() { at = nil }
  }

  private unowned let world: SimulatedWorld
  private var timers: [Timer] = []
  private var jobs: [() -> Void] = []
  private(set) var hasExited = false

  init(_ world: SimulatedWorld) { self.world = world }

  func now() -> Moment { Moment(instant: world.instant, wallOffset: world.wallOffset) }

  func timer(_ handler: @escaping () -> Void) -> any WakeTimer {
    let timer = Timer({ [unowned world] in world.firing(at: $0, accuracy: $1) }, handler)
    timers.append(timer)
    return timer
  }

  func soon(_ work: @escaping () -> Void) { jobs.append(work) }

  func exit() { hasExited = true }

  /// When the next timer goes off; nil if none is armed.
  var next: Int64? { timers.compactMap(\.at).min() }

  /// Takes the work that is to run next, if there is any.
  func nextJob() -> (() -> Void)? { jobs.isEmpty ? nil : jobs.removeFirst() }

  /// Lets the first timer go off that is due.
  func fire(at now: Int64) {
    guard let timer = timers.filter({ $0.at.map { $0 <= now } ?? false }).min(by: { ($0.at ?? 0) < ($1.at ?? 0) })
    else { return }
    timer.at = nil
    if world.fault == .sleepsThroughWakes, world.chance.happens(30) { return }
    timer.handler()
  }
}
