/// All policy of refreshd, as a value: events in, decisions out, no clock, no I/O, no randomness.
///
/// The same engine runs in the daemon, on real time, and in the simulator, on virtual time. The driver saves
/// what a ``Decision`` changed, performs its effects, and comes back with `wokeUp` at ``nextWake`` at the latest.
///
///     var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
///     let decision = engine.handle(.configured(Limits(), [todo: policy]), at: now)
///     // save decision.changes; perform decision.effects; arm a timer for engine.nextWake
///
/// Every event first ends what is overdue, then is applied, and then starts what is ready.
///
/// The extensions in `Stories/` are parts of ``handle(_:at:)``: only `handle`, the stories and the forecasts call them.
public struct Engine: Sendable {
  /// Numbers the runs.
  private var numbers: RunNumbers
  /// Whether the driver sends `began` when it performs a start; the deadline of a refresh runs from then on.
  let awaitsBegin: Bool

  /// Judges apps and transfers.
  var judge: Judge
  /// The apps that were ever configured.
  @usableFromInline var apps: AppTable
  /// When each app is judged again, and which apps wait for a slot.
  var schedule = Schedule()
  /// The transfers of all apps.
  var transfers = Transfers()
  /// Learns how apps are used, and plans background refreshes.
  var planner: Planner

  /// The window of the next `wokeUp`, nil for never; stored, because a computed property would copy the engine.
  public private(set) var nextWake: Window?
  /// Whether any refresh or transfer runs; stored for the same reason.
  public private(set) var isBusy = false

  /// Restores the state that the previous daemon saved.
  ///
  /// Nothing is due before the first `configured` names the apps that still exist.
  ///
  /// - Parameters:
  ///   - start: how often the daemon has started on this store, this time included.
  ///   - spread: the stable offsets of this machine.
  ///   - states: the saved state of each app, in instants of this boot.
  ///   - wallOffset: wall time minus boot time.
  ///   - zone: the time zone.
  ///   - device: the saved state of the device.
  ///   - learned: the saved learners of each app.
  ///   - transfers: the saved state of each transfer, in instants of this boot.
  ///   - pushes: the saved pushes of each app, in order of id, in instants of this boot.
  ///   - lateClock: the clock by which the state was restored after another boot; nil by default.
  ///   - awaitsBegin: whether the driver sends `began` when it performs a start, because its store may be slow.
  public init(
    start: UInt32, spread: Spread, states: [AppID: AppState], wallOffset: Duration, zone: Zone = .utc,
    device: DeviceState = DeviceState(), learned: [AppID: AppHabits] = [:],
    transfers: [TransferID: TransferState] = [:], pushes: [AppID: [Push]] = [:], lateClock: LateClock? = nil,
    awaitsBegin: Bool = false
  ) {
    numbers = RunNumbers(start: start)
    self.awaitsBegin = awaitsBegin
    planner = Planner(learnings: device.learnings, day: device.day)
    var late = lateClock
    late?.remember(states, pushes, device.pause)
    late?.remember(transfers)
    judge = Judge(
      spread: spread, clock: LocalClock(wallOffset: wallOffset, zone: zone, late: late), pause: device.pause)
    apps = AppTable(restoring: states)
    for (id, learned) in learned { if let index = apps.index(of: id) { planner.setLearned(learned, of: index) } }
    self.transfers.restore(transfers)
    for (id, pushes) in pushes { if let index = apps.index(of: id) { apps[index].mailbox.restore(pushes) } }
    updateNextWake()
  }

  /// Handles one event.
  ///
  /// - Parameters:
  ///   - event: what happened; see ``Event``.
  ///   - now: the boot clock's time, not before the time of the last event.
  /// - Returns: the decision: what to save, then what to perform.
  public mutating func handle(_ event: Event, at now: Instant) -> Decision {
    var turn = Turn(now: now)
    let zoneOffset = planner.learnings.zoneOffset
    // What is overdue: the end of a pause, a night, the next step of a running refresh.
    endPause(&turn)
    if planner.beginNight(judge, now: now) { eraseOutdated(&turn) }
    for index in schedule.removeDue(at: now) {
      turn.touch(index)
      if apps[index].refreshing != nil { advance(index, &turn) }
    }
    // The event, and its consequences for transfers.
    apply(event, &turn)
    followSessions(&turn)
    transfers.run(judge, apps, &turn)
    followSessions(&turn)
    // The starts: no event starts a refresh itself. It touches apps; those that are ready wait for a slot.
    for index in turn.touched.inOrder { queueForSlot(index, at: now) }
    startQueued(&turn)
    // The consequences of each new verdict, and when to wake next.
    for index in turn.touched.inOrder { settle(index, &turn) }
    if planner.learnings.zoneOffset != zoneOffset { turn.decision.changes.device.insert(.habits) }
    updateNextWake()
    isBusy = refreshingCount > 0 || transferCounts.running > 0
    return turn.decision
  }

  /// Judges an app at an instant of the boot clock.
  ///
  /// An unknown app is held as not configured.
  public func verdict(on id: AppID, at now: Instant) -> Verdict {
    apps.index(of: id).map { verdict(on: $0, at: now) } ?? .held([.notConfigured])
  }

  /// Judges the app at an index.
  func verdict(on index: AppIndex, at now: Instant) -> Verdict { judge.verdict(on: apps[index], at: now) }

  /// The index of a running refresh's app; nil for an unknown refresh.
  func index(of refresh: RefreshID) -> AppIndex? { judge.running.app(of: refresh).flatMap(apps.index) }

  /// A running refresh; nil if it is unknown.
  func refreshing(_ refresh: RefreshID) -> Refreshing? { index(of: refresh).flatMap { apps[$0].refreshing } }

  private mutating func apply(_ event: Event, _ turn: inout Turn) {
    switch event {
    case .configured(let limits, let policies): configure(limits, policies, &turn)
    case .signalled(let id, let signal): applySignal(id, signal, &turn)
    case .leased(let lease, let id, let signal): addLease(lease, id, signal, &turn)
    case .leaseEnded(let lease, let id): endLease(lease, id, &turn)
    case .shown(let id, let presence): applyPresence(id, presence, &turn)
    case .ownerPresent(let id, let isPresent): applyOwner(id, isPresent, &turn)
    case .overridden(let id, let overrides): override(id, overrides, &turn)
    case .requested(let id, let trigger): request(id, trigger, &turn)
    case .forced(let id): force(id, &turn)
    case .awaited(let id, let areWaiting):
      if let index = apps.index(of: id) { apps[index].requests.setCallers(areWaiting) }
    case .scheduled(let id, let oneShot): schedule(id, oneShot, &turn)
    case .disabled(let id, let isDisabled): disable(id, isDisabled, &turn)
    case .skipped(let id): skip(id, &turn)
    case .skippedAll(let id, let until): skipAll(id, until: until, &turn)
    case .forgotten(let id): forget(id, &turn)
    case .erased(let id): erase(id, &turn)
    case .restored(let before): restore(before, &turn)
    case .paused(let pause): setPause(pause, &turn)
    case .observed(let observation): observe(observation, &turn)
    case .answered(let question, let state): answer(question, state, &turn)
    case .withdrawn(let question): withdraw(question, &turn)
    case .keeperReported(let keeper, let isKept, let text): applyReport(keeper, isKept: isKept, text, &turn)
    case .keeperEnded(let keeper, let end): endKeeper(keeper, end, &turn)
    case .resumed: resume(&turn)
    case .zoneChanged(let zone): setZone(zone, &turn)
    case .completed(let refresh, let task, let outcome, let message):
      changeRefreshing(refresh, &turn) { $0.complete(task: task, outcome, message: message) }
    case .retryAfter(let refresh, let wait):
      changeRefreshing(refresh, &turn) { $0.hints.merge(retryAfter: wait) }
    case .freshFor(let refresh, let span):
      changeRefreshing(refresh, &turn) { $0.hints.merge(freshFor: span) }
    case .began(let refresh): startDeadline(refresh, &turn)
    case .expired(let refresh): expire(refresh, &turn)
    case .taskEnded(let refresh, let task, let end): endTask(refresh, task, end, &turn)
    case .survived(let refresh, let tasks): judge.running.remember(tasks, thatSurvivedOf: refresh)
    case .attached(let id): attach(id, true, &turn)
    case .detached(let id): attach(id, false, &turn)
    case .changed(let id, let folder): applyChange(of: id, in: folder, &turn)
    case .synced(let id, let foundNew): recordOwnSync(of: id, foundNew: foundNew, &turn)
    case .suspending(let until): suspend(until: until, &turn)
    case .enqueued(let enqueued): transfers.enqueue(enqueued, judge.limits.transfers, &turn)
    case .transferPaused(let id, let isPaused): transfers.pause(id, isPaused, &turn)
    case .transferCancelled(let id): transfers.cancel(id, &turn)
    case .transferPrioritized(let id, let priority): transfers.prioritize(id, priority, &turn)
    case .transferFetched(let id): transfers.markFetched(id)
    case .transferMoved(let id, let bytes): transfers.count(bytes, movedOf: id, at: turn.now)
    case .transferReported(let id, let report): transfers.apply(report, of: id, judge.spread, &turn)
    case .roomFound(let id): transfers.findRoom(id, judge.spread, &turn)
    case .pushed(let id, let push): receive(push, for: id, &turn)
    case .clockStepped(let offset): setWall(offset, &turn)
    case .stopped(let left): stop(leaving: left, &turn)
    case .several(let events):
      for event in events {
        apply(event, &turn)
        followSessions(&turn)
      }
    case .wokeUp: goRound(&turn)
    }
  }

  /// Computes the next wake, after a change of the engine.
  mutating func updateNextWake() {
    var shared = planner.wake
    if let wake = transfers.wakeAt, shared.map({ wake < $0.latest }) ?? true {
      shared = Window(earliest: wake, latest: wake)
    }
    nextWake = schedule.wake(beside: shared)
  }

  /// How often the daemon has started on its store.
  public var start: UInt32 { numbers.start }

  /// Makes a run for an app, with the next id.
  public mutating func makeRun(of app: AppID, for owner: RunOwner) -> Run { Run(numbers.next(), of: app, for: owner) }

  /// Makes the id of the next refresh.
  mutating func makeRefreshID() -> RefreshID { RefreshID(numbers.next()) }
}

/// The results that one call of ``Engine/handle(_:at:)`` gathers.
struct Turn {
  let now: Instant
  /// The apps whose verdict may have changed.
  var touched = AppIndexes()
  /// The sessions of transfers that have changed, in this order.
  var sessions: [SessionChange] = []
  var decision = Decision()

  /// Marks an app whose verdict may have changed.
  mutating func touch(_ index: AppIndex) { touched.insert(index) }
}
