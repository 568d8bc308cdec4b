import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// A part of the daemon that acts on every decision of the engine.
protocol DecisionFollower: AnyObject {
  /// Called once for each event, before any effect of the decision is performed.
  func engineDecided(_ decision: Decision, on event: Event, at now: Instant)
}

/// The engine with the configuration in force, between the clock and the one wake timer.
///
/// The parts of the daemon read the engine here, and change it only by events.
final class DaemonCore {
  /// The engine; lent, because a copy for each reader would count references to everything in it.
  var engine: Engine { _read { yield ownEngine } }
  /// The configuration in force; lent like the engine.
  var configuration: ConfigurationInForce { _read { yield ownConfiguration } }
  private var ownEngine: Engine
  private var ownConfiguration = ConfigurationInForce()
  let access: Access
  let scheduler: any Scheduler
  /// When the daemon started.
  let startedAt: Moment
  /// Counts what happens, for the metrics.
  let tally = Tally()
  private var followers: [any DecisionFollower] = []
  private var wake: (any WakeTimer)?
  private var armedFor: Window?

  init(_ engine: Engine, scheduler: any Scheduler, access: Access, startedAt: Moment) {
    (ownEngine, self.scheduler, self.access) = (engine, scheduler, access)
    self.startedAt = startedAt
  }

  /// Begins to work: from now on the followers receive every decision, in this order.
  func open(_ followers: [any DecisionFollower]) throws(SystemdError) {
    self.followers = followers
    wake = try scheduler.timer { [unowned self] in wakeUp() }
    // An idle daemon may not read the clocks for hours.
    try scheduler.onClockSet { [unowned self] in readClocks() }
  }

  /// Lets the engine decide on an event, passes the decision to the followers, and arms the wake timer.
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

  /// Reads the clocks; if the wall clock was set, first tells the engine.
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

  /// A new id, for a refresh or for another command that the launcher runs.
  func makeID() -> RefreshID { ownEngine.makeID() }

  /// Whether the peer may ask about an app, which may have left the configuration.
  func may(_ peer: Peer, about app: AppID) -> Bool {
    configuration[app].map { access.may(peer, about: $0) } ?? access.mayAll(peer)
  }

  private func decide(_ event: Event, at now: Instant) {
    let decision = ownEngine.handle(event, at: now)
    for follower in followers { follower.engineDecided(decision, on: event, at: now) }
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
