@testable import RefreshEngine

/// An engine with one app, on virtual time from a Monday at midnight, that lives through days.
struct LivedApp {
  static let id = AppID("org.example.lived")

  private(set) var engine: Engine
  private let policy: Policy
  private let limits: Limits
  /// Minutes since the beginning, boot clock.
  private(set) var now = 0.0
  /// When each refresh started, in minutes, and what asked for it.
  private(set) var starts: [(at: Double, trigger: Trigger)] = []
  /// How the app's refreshes end from now on.
  var exit = TaskEnd.Exit.exited(0)

  init(_ policy: Policy, zone: Zone = .utc, limits: Limits = Limits()) {
    (self.policy, self.limits) = (policy, limits)
    engine = Engine(
      start: 1, spread: Spread(machine: 1), states: [:], wallOffset: PlanningTests.monday, zone: zone)
    if let id = Self.id { handle(.configured(limits, [id: policy])) }
  }

  /// When the next refresh is planned, in minutes; nil without a plan.
  var planned: Double? { Self.id.flatMap { engine.state(of: $0)?.planned }.map { Double($0.microseconds) / 60e6 } }
  /// The refreshes that the app is charged for since the last night.
  var charged: Float { Self.id.flatMap { engine.learned(of: $0) }?.spending.today ?? 0 }

  mutating func handle(_ event: Event) { perform(engine.handle(event, at: instant)) }

  /// Wakes the engine whenever it asks for it, up to a minute.
  mutating func pass(until minute: Double) {
    while let wake = engine.nextWake?.earliest, Double(wake.microseconds) / 60e6 < minute {
      now = max(now, Double(wake.microseconds) / 60e6)
      handle(.wokeUp)
    }
    now = max(now, minute)
  }

  /// The daemon stops, and the next one begins at once, perhaps in another zone.
  mutating func restart(in zone: Zone) {
    guard let id = Self.id, let state = engine.state(of: id), let learned = engine.learned(of: id) else { return }
    engine = Engine(
      start: 2, spread: Spread(machine: 1), states: [id: state], wallOffset: PlanningTests.monday, zone: zone,
      device: engine.device, learned: [id: learned])
    handle(.configured(limits, [id: policy]))
  }

  /// The user opens the app for a moment.
  mutating func open(at minute: Double) {
    pass(until: minute)
    guard let id = Self.id else { return }
    handle(.signalled(id, .foreground))
    handle(.signalled(id, .background))
  }

  /// Passes days with an opening at noon each day, at most `spread` minutes early or late.
  mutating func openAtNoon(days: Int, spread: Double = 4) {
    let today = Int(now / LocalTime.minutesOfDay)
    for day in today..<(today + days) {
      open(at: Double(day) * LocalTime.minutesOfDay + 720 + Double(day * 11 % 9 - 4) / 4 * spread)
    }
    pass(until: Double(today + days) * LocalTime.minutesOfDay)
  }

  private var instant: Instant { Instant(microseconds: Int64((now * 60e6).rounded(.up))) }

  private mutating func perform(_ decision: Decision) {
    for case .start(let refresh, _, let trigger, _) in decision.effects {
      starts.append((now, trigger))
      handle(.taskEnded(refresh, task: 0, TaskEnd(exit: exit)))
    }
  }
}
