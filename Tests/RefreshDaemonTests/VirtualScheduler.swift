import RefreshEngine

@testable import RefreshDaemon

/// Virtual time, which passes only when the test says so.
class VirtualScheduler: Scheduler {
  private final class Timer: WakeTimer {
    let handler: () -> Void
    private unowned let scheduler: VirtualScheduler
    var at: Int64?

    init(of scheduler: VirtualScheduler, _ handler: @escaping () -> Void) {
      (self.scheduler, self.handler) = (scheduler, handler)
    }

    func arm(at bootMicroseconds: Int64, accuracy: Int64) {
      at = scheduler.firing(at: bootMicroseconds, accuracy: accuracy)
    }
    func disarm() { at = nil }
    func cancel() { at = nil }
  }

  private var microseconds: Int64 = 86_400_000_000
  private var timers: [Timer] = []
  private var jobs: [() -> Void] = []
  private(set) var hasExited = false

  func now() -> Moment {
    Moment(instant: Instant(microseconds: microseconds), wallOffset: .seconds(1_700_000_000))
  }

  /// When a timer goes off that is armed for an instant.
  func firing(at bootMicroseconds: Int64, accuracy: Int64) -> Int64 { bootMicroseconds }

  /// Whether the next wake is lost.
  func losesWake() -> Bool { false }

  func timer(_ handler: @escaping () -> Void) -> any WakeTimer {
    let timer = Timer(of: self, handler)
    timers.append(timer)
    return timer
  }

  func onClockSet(_ handler: @escaping () -> Void) {}

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
    if !losesWake() { timer.handler() }
  }

  /// Lets time pass, and runs what is due in order of time.
  func run(for span: Duration) {
    let end = microseconds + span.inMicroseconds
    while true {
      while let job = nextJob() { job() }
      guard let next, next <= end else { break }
      microseconds = max(microseconds, next)
      fire(at: microseconds)
    }
    microseconds = end
  }
}

/// The clocks and timers of one life of the simulated daemon; all of them are silent after a crash.
final class SimulatedScheduler: VirtualScheduler {
  private unowned let world: SimulatedWorld

  init(_ world: SimulatedWorld) { self.world = world }

  override func now() -> Moment { Moment(instant: world.instant, wallOffset: world.wallOffset) }

  override func firing(at bootMicroseconds: Int64, accuracy: Int64) -> Int64 {
    world.firing(at: bootMicroseconds, accuracy: accuracy)
  }

  override func losesWake() -> Bool { world.fault == .sleepsThroughWakes && world.chance.happens(30) }
}
