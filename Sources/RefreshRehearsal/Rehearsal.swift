import RefreshEngine

/// The engine on a trace, on virtual time: what the daemon would have done had it been there (FEATURES H6).
///
/// The engine knows only what it would know: the results of its own refreshes, and what each opening found. An opening is
/// an entry into the foreground with its sync, followed at once by the background. A refresh takes no time and succeeds;
/// conditions are unknown, which counts as met.
public struct Rehearsal {
  /// What the engine did.
  public struct Schedule: Sendable {
    /// The background refreshes of each app, minutes since the trace began.
    public var refreshes: [AppID: [Double]]
    /// How often the machine was woken for them.
    public var wakes: Int
  }

  private var engine: Engine
  private let trace: Trace
  private let places: [AppID: Int]
  private var syncs: [Double]
  private var schedule: Schedule

  /// Minutes in which a wake that is asked for has come: none, on virtual time.
  private static let monday = Duration.hours(4 * 24)

  /// Prepares the engine.
  ///
  /// - Parameters:
  ///   - trace: what sources and users did.
  ///   - limits: the bounds that hold for all apps, with the profile.
  ///   - policies: the apps that the configuration names; the others get ``standard(_:)``.
  public init(_ trace: Trace, limits: Limits, policies: [AppID: Policy] = [:]) {
    self.trace = trace
    places = Dictionary(trace.apps.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
    syncs = Array(repeating: 0, count: trace.apps.count)
    schedule = Schedule(refreshes: Dictionary(uniqueKeysWithValues: places.keys.map { ($0, []) }), wakes: 0)
    engine = Engine(start: 1, spread: Spread(machine: 0), states: [:], wallOffset: Self.monday)
    var named: [AppID: Policy] = [:]
    for app in trace.apps { named[app.id] = policies[app.id] ?? Self.standard }
    perform(engine.handle(.configured(limits, named), at: Instant(microseconds: 0)), at: 0)
  }

  /// The policy of an app that no configuration names: as often as the system allows, by plan.
  public static let standard: Policy = {
    var policy = Policy(backgroundInterval: .minimum, onForeground: .always, tasks: [TaskPolicy(name: "refresh")])
    policy.isAdaptive = true
    return policy
  }()

  /// Runs the whole trace.
  public static func run(_ trace: Trace, limits: Limits, policies: [AppID: Policy] = [:]) -> Schedule {
    var rehearsal = Rehearsal(trace, limits: limits, policies: policies)
    let openings = trace.apps.flatMap { app in app.openings.map { (at: $0, app: app.id) } }
      .sorted { ($0.at, $0.app) < ($1.at, $1.app) }
    for opening in openings { rehearsal.open(opening.app, at: opening.at) }
    rehearsal.pass(until: Double(trace.days) * 1440)
    return rehearsal.schedule
  }

  /// The user opens an app, and leaves it again.
  private mutating func open(_ id: AppID, at minute: Double) {
    pass(until: minute)
    handle(.signalled(id, .foreground), at: minute)
    handle(.signalled(id, .background), at: minute)
  }

  /// Wakes the engine whenever it asks for it.
  private mutating func pass(until minute: Double) {
    while let wake = engine.nextWake, wake.earliest.minute < minute {
      let before = engine.refreshingCount
      handle(.wokeUp, at: wake.earliest.minute)
      if engine.refreshingCount > before { schedule.wakes += 1 }
    }
  }

  private mutating func handle(_ event: Event, at minute: Double) {
    perform(engine.handle(event, at: Instant(minute: minute)), at: minute)
  }

  /// Ends what the engine starts, with new data if the source had any.
  private mutating func perform(_ decision: Decision, at minute: Double) {
    for case .start(let refresh, let id, let trigger, _) in decision.effects {
      guard let place = places[id] else { continue }
      let isNew = trace.apps[place].firstUpdate(after: syncs[place], until: minute) != nil
      syncs[place] = minute
      if trigger != .foreground { schedule.refreshes[id, default: []].append(minute) }
      end(refresh, of: id, isNew ? .newData : .noData, at: minute)
    }
  }

  private mutating func end(_ refresh: RefreshID, of id: AppID, _ outcome: Outcome, at minute: Double) {
    let count = engine.taskCount(of: refresh)
    for task in 0..<count {
      handle(.completed(refresh, task: task, outcome, message: ""), at: minute)
      handle(.taskEnded(refresh, task: task, TaskEnd(exit: .exited(0))), at: minute)
    }
  }
}

extension Instant {
  fileprivate init(minute: Double) { self.init(microseconds: Int64((minute * 60e6).rounded(.up))) }
  fileprivate var minute: Double { Double(microseconds) / 60e6 }
}
