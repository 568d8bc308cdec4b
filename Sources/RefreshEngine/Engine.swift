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
  /// How local time follows from wall time.
  public internal(set) var zone: Zone
  /// Whether the daemon is stopping.
  public internal(set) var isStopping = false
  /// The conditions of the machine, as far as they have been observed.
  public internal(set) var conditions = Conditions()
  /// What holds for all apps.
  public internal(set) var device: DeviceState
  /// Whether it is known which apps there are.
  var isConfigured = false
  /// Whether the machine is going to sleep.
  var isSuspending = false
  /// The tasks of refreshes of the daemon before this one that are there still, until the first configuration.
  var survivors: [RefreshID: Set<Int>] = [:]
  /// When the machine last started or woke up, boot clock; nil when it has not since the daemon began.
  var resumedAt: Instant?
  /// When the last app of the last backlog has its place, boot clock; nil before the first backlog.
  var backlogUntil: Instant?

  /// What is moved for the apps.
  var transfers = TransferQueue()

  let spread: Spread
  var apps: AppTable
  /// Which app a running refresh is of.
  var running: [RefreshID: AppID] = [:]
  /// How many refreshes are running of each user's apps, where any are.
  var runningOfUser: [UInt32: Int] = [:]
  /// The apps whose verdict may change by another event than their own: those held by a condition or a pause, or with pushes.
  var held = Marks()
  /// What is left to do of a round through the apps, if one is under way.
  var round: Round?
  /// Whether any app is planned.
  var plansAny = false
  /// When the next night begins, boot clock; nil while no app is planned.
  var nightAt: Instant?
  private var agenda = Agenda()
  var queue = Queue()
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
  ///   - zone: how local time follows from wall time.
  ///   - device: what is saved of the device.
  ///   - learned: what is saved of the learners of each app.
  ///   - transfers: what is saved of each transfer, in instants of this boot.
  ///   - pushes: the pushes that are saved of each app, in order of id, in instants of this boot.
  public init(
    start: UInt32, spread: Spread, states: [AppID: AppState], wallOffset: Duration, zone: Zone = .utc,
    device: DeviceState = DeviceState(), learned: [AppID: Learned] = [:],
    transfers: [TransferID: TransferState] = [:], pushes: [AppID: [Push]] = [:]
  ) {
    self.start = start
    self.zone = zone
    self.device = device
    self.spread = spread
    self.wallOffset = wallOffset
    apps = AppTable(restoring: states, learned: learned)
    for (id, state) in transfers { self.transfers[id] = state }
    for (id, pushes) in pushes { apps[id]?.pushes = pushes }
  }

  /// From when until when to come back; nil when there is nothing to do by time.
  public var nextWake: Window? {
    let own = [roundWake, transferWake.map { Window(earliest: $0, latest: $0) }].compactMap(\.self)
    return agenda.wake(beside: own.min { $0.latest < $1.latest })
  }

  /// Takes one event and says what to save and to do.
  ///
  /// - Parameters:
  ///   - event: what happened; see ``Event``.
  ///   - now: the boot clock's time, not before that of the event before.
  public mutating func handle(_ event: Event, at now: Instant) -> Decision {
    var turn = Turn(now: now)
    endPause(&turn)
    beginNight(&turn)
    for place in agenda.takeDue(at: now) {
      turn.touched.insert(place)
      if apps[place].refreshing != nil { advance(apps.id(at: place), &turn) }
    }
    apply(event, &turn)
    runTransfers(&turn)
    for place in turn.touched.inOrder { line(place, at: now) }
    while hasPlace, let place = queue.first(where: hasPlace(of:)) {
      queue.set(place, to: nil)
      turn.touched.insert(place)
      if case .ready(let trigger) = verdict(on: place, at: now) { begin(apps.id(at: place), trigger, &turn) }
    }
    for place in turn.touched.inOrder { settle(place, &turn) }
    return turn.decision
  }

  /// The judgement about one app at one instant, boot clock.
  ///
  /// An app that is not there is held as not configured.
  public func verdict(on id: AppID, at now: Instant) -> Verdict {
    apps.place(of: id).map { verdict(on: $0, at: now) } ?? .held([.notConfigured])
  }

  /// The judgement about the app at a place.
  func verdict(on place: Place, at now: Instant) -> Verdict {
    verdict(on: apps[place], apps.id(at: place), at: now)
  }

  private func verdict(on app: App, _ id: AppID, at now: Instant) -> Verdict {
    if let refreshing = app.refreshing { return .refreshing(refreshing.started.id) }
    let lasting = lastingHolds(on: app)
    guard lasting.isEmpty else { return .held(lasting) }
    guard let due = due(app, id, at: now) else { return .held([.never]) }
    guard due.earliest <= now else { return .notDue(until: due.earliest) }
    let holds = holds(on: app, id, for: due.trigger, at: now)
    guard holds.isEmpty else { return .held(holds) }
    return hasPlace && hasPlace(of: app.policy?.owner ?? 0) ? .ready(due.trigger) : .held([.concurrency])
  }

  /// Takes note that the verdict on an app may be another one now.
  func touch(_ id: AppID, _ turn: inout Turn) {
    if let place = apps.place(of: id) { turn.touched.insert(place) }
  }

  /// Forgets what the indexes say of places, which are other apps' now; all apps are to be touched then.
  mutating func forgetPlaces() {
    (agenda, queue, held) = (Agenda(), Queue(), Marks())
    restartRound()
  }

  /// What is due first of the app at a place.
  func due(_ place: Place, at now: Instant) -> Due? {
    due(apps[place], apps.id(at: place), at: now)
  }

  /// What is due first of an app.
  func due(_ app: App, _ id: AppID, at now: Instant) -> Due? {
    let push = app.pushes.isEmpty ? nil : nextPush(of: app, at: now)?.earliest
    return app.due(limits: limits, spread: spread, of: id, push: push, at: now)
  }

  /// Brings the indexes, the record of waits and what is told of its data up to what has become of an app.
  private mutating func settle(_ place: Place, _ turn: inout Turn) {
    let verdict = verdict(on: place, at: turn.now)
    noteWaiting(place, verdict, &turn)
    noteStaleness(place, &turn)
    var window: Window?
    switch verdict {
    case .refreshing:
      window = apps[place].refreshing?.wake.map { Window(earliest: $0, latest: $0) }
    case .ready, .notDue:
      window = due(place, at: turn.now).map { Window(earliest: $0.earliest, latest: $0.latest) }
    case .held(let holds):
      window = wake(of: holds, on: place, at: turn.now).map { Window(earliest: $0, latest: $0) }
    }
    if let telling = tellsStale(place) { window = Window(window, ending: telling) }
    if case .held = verdict { held[place] = true } else { held[place] = apps[place].pushesFollowConditions }
    agenda.set(place, to: window)
  }

  private mutating func apply(_ event: Event, _ turn: inout Turn) {
    switch event {
    case .configured(let limits, let policies): configure(limits, policies, &turn)
    case .signalled(let id, let signal): takeSignal(id, signal, &turn)
    case .leased(let lease, let id, let signal): takeLease(lease, id, signal, &turn)
    case .leaseEnded(let lease, let id): endLease(lease, id, &turn)
    case .overridden(let id, let overrides): override(id, overrides, &turn)
    case .requested(let id, let trigger): request(id, trigger, &turn)
    case .scheduled(let id, let oneShot): schedule(id, oneShot, &turn)
    case .disabled(let id, let isDisabled): disable(id, isDisabled, &turn)
    case .skipped(let id): skip(id, &turn)
    case .forgotten(let id): forget(id, &turn)
    case .paused(let pause): setPause(pause, &turn)
    case .observed(let observation): observe(observation, &turn)
    case .resumed: resume(&turn)
    case .zoneChanged(let zone):
      self.zone = zone
      setNight(at: turn.now)
      turn.touched.insert(held.all)
    case .completed(let refresh, let task, let outcome, let message):
      changeRefreshing(refresh, &turn) { $0.complete(task: task, outcome, message: message) }
    case .retryAfter(let refresh, let wait):
      changeRefreshing(refresh, &turn) {
        $0.retryAfter = max($0.retryAfter ?? .zero, min(wait, Self.longestRetryAfter))
      }
    case .freshFor(let refresh, let span):
      // Of several tasks the one whose data ages first counts.
      changeRefreshing(refresh, &turn) { $0.freshFor = min($0.freshFor ?? span, span, Self.longestFreshFor) }
    case .taskEnded(let refresh, let task, let end): endTask(refresh, task, end, &turn)
    case .survived(let refresh, let tasks): survivors[refresh] = tasks
    case .attached(let id): attach(id, true, &turn)
    case .detached(let id): attach(id, false, &turn)
    case .suspending(let until): suspend(until: until, &turn)
    case .enqueued(let enqueued): enqueue(enqueued, &turn)
    case .transferPaused(let id, let isPaused): pause(id, isPaused, &turn)
    case .transferCancelled(let id): cancel(id, &turn)
    case .transferPrioritized(let id, let priority): prioritize(id, priority, &turn)
    case .transferReported(let id, let report): self.report(id, report, &turn)
    case .transferFetched(let id): transfers.noteFetched(id)
    case .roomFound(let id): takeRoom(id, &turn)
    case .pushed(let id, let push): take(push, for: id, &turn)
    case .clockStepped(let offset):
      wallOffset = offset
      setClock(&turn)
      turn.touched.insert(held.all)
    case .stopped(let left): stop(leaving: left, &turn)
    case .wokeUp: goRound(&turn)
    }
  }

  /// The next id of this start, for a refresh or for another command that runs for an app.
  public mutating func makeID() -> RefreshID {
    number += 1
    return RefreshID(start: start, number: number)
  }

  private mutating func begin(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let policy = apps[id]?.policy else { return }
    let drained = trigger == .transfer ? apps[id]?.nextDrained : nil
    let next = trigger == .push ? apps[id].flatMap { nextPush(of: $0, at: turn.now) } : nil
    let push = next.flatMap { $0.earliest <= turn.now ? $0.push : nil }
    let started = Started(id: makeID(), trigger: trigger, at: turn.now, session: drained?.name, push: push?.id)
    if let drained { apps[id]?.drained.removeAll { $0 == drained } }
    if let push { begin(telling: push, of: id, &turn) }
    let isAttached = apps[id]?.isAttached ?? false
    let refreshing = Refreshing(started, policy: policy, isAttached: isAttached)
    takePlace(refreshing, of: id)
    apps[id]?.state.lastStart = turn.now
    // Who waits for a refresh waits for more than the word that a session has ended, or that a push came.
    let asked = apps[id]?.state.request?.trigger
    if drained == nil && push == nil || asked?.isByTime == true || asked == trigger { apps[id]?.state.request = nil }
    apps[id]?.state.skippedUntil = nil
    apps[id]?.isRetryAwaited = false
    if let oneShot = apps[id]?.state.oneShot, oneShot.earliest <= turn.now { apps[id]?.state.oneShot = nil }
    apps[id]?.refreshing = refreshing
    turn.decision.changed.insert(id)
    turn.decision.effects.append(
      isAttached
        ? .perform(started.id, id, trigger, deadline: refreshing.deadline)
        : .start(started.id, id, trigger, deadline: refreshing.deadline))
  }
}

/// What one call of ``Engine/handle(_:at:)`` gathers.
struct Turn {
  let now: Instant
  /// The apps whose verdict may be another one now.
  var touched = Places()
  var decision = Decision()
}
