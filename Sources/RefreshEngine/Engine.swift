/// All policy of refreshd, as a value: events in, decisions out, no clock, no I/O, no chance (DESIGN section 3).
///
/// The same engine runs in the daemon, on real time, and in the simulator, on virtual time. Whoever drives it saves
/// what a ``Decision`` changed, performs its effects, and comes back with `wokeUp` at ``nextWake`` at the latest.
///
///     var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
///     let decision = engine.handle(.configured(Limits(), [todo: policy]), at: now)
///     // save decision.changed and decision.ended; perform decision.effects; arm a timer for engine.nextWake
///
/// Time passes on every event: each first ends what is overdue, then takes the event, then starts what is ready.
public struct Engine: Sendable {
  /// How often the daemon has started on its store: the first half of every new ``RefreshID``.
  public let start: UInt32
  /// The bounds in force.
  public internal(set) var limits = Limits()
  /// Wall time minus boot time.
  ///
  /// No schedule depends on it; the edges map instants to wall time with it.
  public internal(set) var wallOffset: Duration
  /// Whether the daemon is stopping.
  public internal(set) var isStopping = false

  let spread: Spread
  var apps: AppTable
  /// Which app a running refresh is of.
  var running: [RefreshID: AppID] = [:]
  private var agenda = Agenda()
  private var number: UInt32 = 0

  /// Takes up what the daemon before this one saved.
  ///
  /// Nothing is due before the first `configured` says which of the apps there still are.
  ///
  /// - Parameters:
  ///   - start: how often the daemon has started on this store, this time included.
  ///   - spread: the stable offsets of this machine.
  ///   - states: what is saved of each app, in instants of this boot.
  ///   - wallOffset: wall time minus boot time.
  public init(start: UInt32, spread: Spread, states: [AppID: AppState], wallOffset: Duration) {
    self.start = start
    self.spread = spread
    self.wallOffset = wallOffset
    apps = AppTable(restoring: states)
  }

  /// When there is something to do by time; nil when nothing is.
  public var nextWake: Window? {
    agenda.first.map { Window(earliest: $0, latest: $0) }
  }

  /// Takes one event and says what to save and to do.
  ///
  /// - Parameters:
  ///   - event: what happened; see ``Event``.
  ///   - now: the boot clock's time, not before that of the event before.
  public mutating func handle(_ event: Event, at now: Instant) -> Decision {
    var turn = Turn(now: now)
    for id in agenda.takeDue(at: now) {
      turn.touched.insert(id)
      advance(id, &turn)
    }
    apply(event, &turn)
    for id in turn.touched.sorted() {
      if case .ready(let trigger) = verdict(on: id, at: now) { begin(id, trigger, &turn) }
      agenda.set(id, to: wake(of: id, at: now))
    }
    return turn.decision
  }

  /// The judgement about one app at one instant, boot clock.
  ///
  /// An app that is not there is held as not configured.
  public func verdict(on id: AppID, at now: Instant) -> Verdict {
    guard let app = apps[id] else { return .held([.notConfigured]) }
    if let refreshing = app.refreshing { return .refreshing(refreshing.started.id) }
    var holds: [Hold] = []
    if app.policy == nil { holds.append(.notConfigured) }
    if app.isLoggedOut { holds.append(.loggedOut) }
    if isStopping { holds.append(.stopping) }
    guard holds.isEmpty else { return .held(holds) }
    guard let due = app.due(limits: limits, at: now) else { return .held([.never]) }
    return due.earliest <= now ? .ready(due.trigger) : .notDue(until: due.earliest)
  }

  private mutating func apply(_ event: Event, _ turn: inout Turn) {
    switch event {
    case .configured(let limits, let policies): configure(limits, policies, &turn)
    case .signalled(let id, let signal): takeSignal(id, signal, &turn)
    case .leased(let lease, let id, let signal): takeLease(lease, id, signal, &turn)
    case .leaseEnded(let lease, let id): endLease(lease, id, &turn)
    case .overridden(let id, let overrides): override(id, overrides, &turn)
    case .requested(let id, let trigger): request(id, trigger, &turn)
    case .completed(let refresh, let task, let outcome, let message):
      changeRefreshing(refresh, &turn) { $0.complete(task: task, outcome, message: message) }
    case .taskEnded(let refresh, let task, let end):
      let now = turn.now
      changeRefreshing(refresh, &turn) { $0.end(task: task, end, at: now) }
    case .clockStepped(let offset): wallOffset = offset
    case .stopped: stop(&turn)
    case .scheduled, .disabled, .skipped, .paused, .observed, .resumed, .zoneChanged, .wokeUp: break
    }
  }

  private func wake(of id: AppID, at now: Instant) -> Instant? {
    if let refreshing = apps[id]?.refreshing { return refreshing.wake }
    if case .notDue(let until) = verdict(on: id, at: now) { return until }
    return nil
  }

  private mutating func begin(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let policy = apps[id]?.policy else { return }
    number += 1
    let started = Started(id: RefreshID(start: start, number: number), trigger: trigger, at: turn.now)
    let refreshing = Refreshing(started, policy: policy)
    running[started.id] = id
    apps[id]?.lastStart = turn.now
    apps[id]?.request = nil
    apps[id]?.activity = .refreshing(refreshing)
    turn.decision.changed.insert(id)
    turn.decision.effects.append(.start(started.id, id, trigger, deadline: refreshing.deadline))
    if refreshing.isDone { end(id, refreshing, &turn) }
  }
}

/// What one call of ``Engine/handle(_:at:)`` gathers.
struct Turn {
  let now: Instant
  /// The apps whose verdict may be another one now.
  var touched: Set<AppID> = []
  var decision = Decision()
}
