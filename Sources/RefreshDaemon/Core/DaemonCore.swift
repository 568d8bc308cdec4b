import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// A part of the daemon that adds to the commit of a decision.
protocol CommitContributor: AnyObject {
  /// Adds to the commit; called once for each event, before the decision is saved.
  func contribute(to commit: inout CommitAdditions, from decision: Decision, on event: Event)
}

/// What the parts of the daemon add to the commit of a decision.
struct CommitAdditions {
  /// Whether the commit must survive a loss of power although no caller waits for it.
  var isDurable = false
  /// Called after the commit, even a failed commit.
  var answers: [() -> Void] = []
}

/// A part of the daemon that acts on every decision of the engine.
protocol DecisionObserver: AnyObject {
  /// Sees the decision; called once for each event, after the commit has it, and before any effect is performed.
  func observe(_ decision: Decision, on event: Event, at now: Instant)
}

/// What the parts of the daemon ask of ``Daemon``, which alone implements it.
protocol DaemonDelegate: AnyObject {
  /// Performs effects, after the commit of their decision where they wait for it.
  func perform(_ work: [PendingCommit.Work])
  /// Forgets apps that the disk has erased.
  func erased(_ apps: Set<AppID>)
  /// Puts a configuration in force in place of the present one.
  func replace(by next: ConfigurationInForce)
  /// Has the conditions watched that are needed now.
  func needsChanged()
  /// Has what the service manager shows brought up to date.
  func statusChanged()
  /// Ends a daemon that stops, once nothing is left to do.
  func leaveIfDone()
}

/// The engine with the configuration in force, between the clock and the one wake timer.
///
/// The parts of the daemon read the engine here, and change it only by events.
final class DaemonCore {
  /// The engine, yielded in place: a copy would retain every buffer in it.
  var engine: Engine { _read { yield ownEngine } }
  /// The configuration in force, yielded in place like the engine.
  var configuration: ConfigurationInForce { _read { yield ownConfiguration } }
  private var ownEngine: Engine
  private var ownConfiguration = ConfigurationInForce()
  let access: Access
  let scheduler: any Scheduler
  /// When the daemon started.
  let startedAt: Moment
  /// Counts what happens, for the metrics.
  let tally = Tally()
  /// The daemon, from ``open(for:_:)`` on.
  weak var daemon: (any DaemonDelegate)?
  private var parts: Parts?
  private var wake: (any WakeTimer)?
  private var armedFor: Window?

  init(_ engine: Engine, scheduler: any Scheduler, access: Access, startedAt: Moment) {
    (ownEngine, self.scheduler, self.access) = (engine, scheduler, access)
    self.startedAt = startedAt
  }

  /// The daemon that the parts report to.
  var delegate: any DaemonDelegate {
    guard let daemon else { preconditionFailure("a part of the daemon reports before the daemon is open") }
    return daemon
  }

  /// The parts that receive every decision, in this order.
  struct Parts {
    let contributors: [any CommitContributor]
    /// Saves the decision, and then has its effects performed.
    let saving: Saving
    let observers: [any DecisionObserver]
  }

  /// Begins to work for a daemon: from now on its parts receive every decision.
  func open(for daemon: any DaemonDelegate, _ parts: Parts) throws(SystemdError) {
    (self.daemon, self.parts) = (daemon, parts)
    wake = try scheduler.timer { [unowned self] in wakeUp() }
    // An idle daemon may not read the clocks for hours.
    try scheduler.onClockSet { [unowned self] in readClocks() }
  }

  /// Lets the engine decide on an event, passes the decision to the parts, and arms the wake timer.
  func handle(_ event: Event) {
    decide(event, at: readClocks())
  }

  /// Puts a configuration in force, here and in the engine in one step.
  func configure(_ next: ConfigurationInForce) {
    let now = readClocks()
    ownConfiguration = next
    decide(next.event, at: now)
  }

  /// Keeps the mistakes for which a new configuration was refused.
  func refuse(_ problems: [Problem]) { ownConfiguration.refused = problems }

  /// Reads the clocks; if the wall clock was set, informs the engine first.
  ///
  /// Called before each event and each answer with a wall time; nothing else depends on the wall clock.
  @discardableResult
  func readClocks() -> Instant {
    let moment = scheduler.now()
    let drift = (moment.wallOffset - engine.wallOffset).inMicroseconds.magnitude
    if drift > Moment.step.inMicroseconds.magnitude {
      decide(.clockStepped(wallOffset: moment.wallOffset), at: moment.instant)
    }
    return moment.instant
  }

  /// The boot clock's time.
  var now: Instant { scheduler.now().instant }

  /// An instant on the wall clock, in microseconds since 1970.
  func wall(_ instant: Instant) -> Int64 { instant.wallMicroseconds(at: engine.wallOffset) }

  /// Names a new run for an app.
  func makeRun(of app: AppID, for owner: RunOwner) -> Run { ownEngine.makeRun(of: app, for: owner) }

  /// Whether the peer may ask about an app, which may have left the configuration.
  func may(_ peer: Peer, about app: AppID) -> Bool {
    configuration[app].map { access.may(peer, about: $0) } ?? access.mayAll(peer)
  }

  private func decide(_ event: Event, at now: Instant) {
    let decision = ownEngine.handle(event, at: now)
    if let parts {
      var additions = CommitAdditions()
      for part in parts.contributors { part.contribute(to: &additions, from: decision, on: event) }
      parts.saving.take(decision, with: additions, on: event, at: now)
      for part in parts.observers { part.observe(decision, on: event, at: now) }
    }
    arm()
  }

  /// Handles the timer; arms it again even if the next instant is the same.
  private func wakeUp() {
    armedFor = nil
    tally.noteWake()
    handle(.wokeUp)
  }

  /// Arms the timer for the engine's next wake; the kernel may be late by the length of the window.
  private func arm() {
    let window = engine.nextWake
    guard window != armedFor else { return }
    armedFor = window
    guard let window else {
      wake?.disarm()
      return
    }
    let accuracy = window.earliest.duration(to: window.latest).inMicroseconds
    wake?.arm(at: window.earliest.microseconds, accuracy: max(1, accuracy))
  }
}

/// A reading of the machine's clocks.
struct Moment {
  let instant: Instant
  /// Wall time minus boot time.
  let wallOffset: Duration

  /// The difference from the offset in force at which the wall clock counts as stepped.
  ///
  /// NTP slews a clock by at most 500 ppm (adjtimex(2)), some microseconds between two readings. A larger difference is
  /// a step, or a slew that has added up; both need a new offset.
  static let step = Duration.milliseconds(100)

  /// The distance of two readings of the boot clock that leaves no doubt about the wall clock between them, in
  /// microseconds.
  private static let close: Int64 = 20

  /// Reads both clocks.
  ///
  /// The thread may lose the processor between two readings, so the closest of a few counts.
  static func now() -> Moment {
    var before = EventLoop.bootMicroseconds()
    var (offset, distance) = (Int64.zero, Int64.max)
    for _ in 0..<5 where distance > close {
      let wall = EventLoop.wallMicroseconds()
      let after = EventLoop.bootMicroseconds()
      if after - before < distance { (offset, distance) = (wall - (before + after) / 2, after - before) }
      before = after
    }
    return Moment(instant: Instant(microseconds: before), wallOffset: .microseconds(offset))
  }
}

extension Instant {
  /// The instant on the wall clock, in microseconds since 1970, at an offset of wall time to boot time.
  func wallMicroseconds(at offset: Duration) -> Int64 { (self + offset).microseconds }
}
