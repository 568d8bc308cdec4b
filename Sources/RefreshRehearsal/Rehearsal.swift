import RefreshEngine

/// Runs the engine on a trace, in virtual time, to show what the daemon would have done.
///
/// The engine knows only the results of its own refreshes and what each opening found. An opening enters the foreground,
/// syncs, and leaves at once. A refresh takes no time, and succeeds unless the trace says that it fails. Conditions are
/// unknown, which counts as met.
public struct Rehearsal {
  /// The schedule of the engine.
  public struct Schedule: Sendable {
    /// The background refreshes of each app, in minutes since the trace began.
    public var refreshes: [AppID: [Double]]
    /// The wakes of the machine for them, in minutes since the trace began.
    public var wakes: [Double]
  }

  private var engine: Engine
  private let trace: Trace
  private let indices: [AppID: Int]
  private var syncs: [Double]
  private var schedule: Schedule
  private var starts = 0

  /// The Unix time at the beginning of the trace, a Monday.
  private static let monday = Duration.hours(4 * 24)

  private init(_ trace: Trace, _ policies: Policies) {
    self.trace = trace
    indices = Dictionary(trace.apps.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
    syncs = Array(repeating: 0, count: trace.apps.count)
    schedule = Schedule(refreshes: Dictionary(uniqueKeysWithValues: indices.keys.map { ($0, []) }), wakes: [])
    engine = Engine(start: 1, spread: Spread(machine: 0), states: [:], wallOffset: Self.monday)
    var limits = policies.limits
    limits.unknownIsMet = true
    var apps: [AppID: Policy] = [:]
    for app in trace.apps {
      var policy = policies.apps[app.id] ?? Self.standard
      // An app without a task refreshes itself, and the schedule is the same.
      if policy.tasks.isEmpty { policy.tasks = Self.standard.tasks }
      apps[app.id] = policy
    }
    for observation in Self.conditions { handle(observation, at: 0) }
    handle(.configured(limits, apps), at: 0)
  }

  /// The configuration of a rehearsal.
  public struct Policies: Sendable {
    /// The bounds for all apps, with the profile.
    public var limits: Limits
    /// The apps that the configuration names; the others get ``Rehearsal/standard``.
    public var apps: [AppID: Policy]

    /// Makes a configuration from its parts; the default configures nothing.
    public init(limits: Limits = Limits(), apps: [AppID: Policy] = [:]) {
      self.limits = limits
      self.apps = apps
    }
  }

  /// Observations of sources that answer and know nothing.
  private static let conditions = Observation.unknown(source: "nobody").map(Event.observed)

  /// The policy of an app that no configuration names: planned, as often as the system allows.
  public static let standard = Policy(onForeground: .always, tasks: [TaskPolicy(name: "refresh")])

  /// Runs the whole trace.
  public static func run(_ trace: Trace, _ policies: Policies) -> Schedule {
    var rehearsal = Rehearsal(trace, policies)
    let openings = trace.apps.flatMap { app in app.openings.map { (at: $0, app: app.id) } }
      .sorted { ($0.at, $0.app) < ($1.at, $1.app) }
    for opening in openings { rehearsal.open(opening.app, at: opening.at) }
    rehearsal.pass(until: trace.measured.upperBound)
    return rehearsal.schedule
  }

  /// Opens an app and leaves it again.
  private mutating func open(_ id: AppID, at minute: Double) {
    pass(until: minute)
    handle(.signalled(id, .foreground), at: minute)
    handle(.signalled(id, .background), at: minute)
  }

  /// Wakes the engine at each time that it asks for.
  private mutating func pass(until minute: Double) {
    while let wake = engine.nextWake, wake.earliest.minute < minute {
      let starts = self.starts
      handle(.wokeUp, at: wake.earliest.minute)
      if self.starts > starts { schedule.wakes.append(wake.earliest.minute) }
    }
  }

  private mutating func handle(_ event: Event, at minute: Double) {
    perform(engine.handle(event, at: Instant(minute: minute)), at: minute)
  }

  /// Ends each refresh that the engine starts, with new data if the source had any.
  private mutating func perform(_ decision: Decision, at minute: Double) {
    for case .start(let refresh, let id, let trigger, _) in decision.effects {
      guard let index = indices[id] else { continue }
      starts += 1
      if trigger != .foreground { schedule.refreshes[id, default: []].append(minute) }
      let app = trace.apps[index]
      guard !app.fails.contains(minute) else {
        for task in 0..<engine.taskCount(of: refresh) {
          handle(.taskEnded(refresh, task: task, TaskEnd(exit: .exited(1))), at: minute)
        }
        continue
      }
      let isNew = app.firstUpdate(after: syncs[index], until: minute) != nil
      syncs[index] = minute
      end(refresh, isNew ? .newData : .noData, at: minute)
    }
  }

  private mutating func end(_ refresh: RefreshID, _ outcome: Outcome, at minute: Double) {
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
