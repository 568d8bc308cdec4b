/// The start of a refresh, saved before its first process, so that a crash cannot lose it.
public struct Started: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var at: Instant
  /// The session of transfers whose end it reports; nil unless the trigger is `transfer`.
  public var session: String?
  /// The push that it delivers; nil if it delivers none.
  public var push: PushID?
  /// Whether a person asked for it against the app's constraints.
  public var isForced = false

  /// Makes a start.
  public init(id: RefreshID, trigger: Trigger, at: Instant, session: String? = nil, push: PushID? = nil) {
    self.id = id
    self.trigger = trigger
    self.at = at
    self.session = session
    self.push = push
  }
}

extension Engine {
  /// Starts a refresh: takes a slot and the request, and adds the effect `start` or `perform`.
  mutating func startRefresh(_ index: AppIndex, _ trigger: Trigger, _ turn: inout Turn) {
    guard let policy = apps[index].policy else { return }
    let id = apps.id(at: index)
    let drained = trigger == .transfer ? apps[index].mailbox.nextDrained : nil
    let next = trigger == .push ? judge.nextPush(of: apps[index], at: turn.now) : nil
    let push = next.flatMap { $0.earliest <= turn.now ? $0.push : nil }
    var started = Started(id: makeRefreshID(), trigger: trigger, at: turn.now, session: drained?.name, push: push?.id)
    started.isForced = trigger == .manual && apps[index].requests.isForced
    if let drained {
      _ = apps[index].mailbox.remove(sessionNamed: drained.name)
      countDelivery(started, of: index, &turn)
    }
    if let push { apps[index].mailbox.countAttempt(push, of: id, policy.pushLimit, &turn) }
    let isAttached = apps[index].isAttached
    if !isAttached { apps[index].forgetAttached() }
    let refreshing = Refreshing(started, policy: policy, isAttached: isAttached, beginsLater: awaitsBegin)
    judge.running.add(refreshing, of: id)
    let interval = apps[index].fixedInterval(limits: judge.limits)
    apps[index].timetable.start(at: turn.now, every: interval)
    apps[index].requests.start(trigger, isDelivery: drained != nil || push != nil, at: turn.now)
    apps[index].switches.endPassedSkip(at: turn.now)
    apps[index].refreshing = refreshing
    turn.decision.changes.apps.insert(id)
    turn.decision.effects.append(
      isAttached
        ? .perform(started.id, id, trigger, deadline: refreshing.deadline.at)
        : .start(started.id, id, trigger, deadline: refreshing.deadline.at))
  }
}

// Running refreshes, from the start to the end.

extension Engine {
  /// Takes every overdue step of the app's refresh.
  mutating func advance(_ index: AppIndex, _ turn: inout Turn) {
    guard var refreshing = apps[index].refreshing else { return }
    ageSlot(&refreshing, at: turn.now)
    while let effect = refreshing.advance(app: apps.id(at: index), at: turn.now) {
      turn.decision.effects.append(effect)
    }
    apps[index].refreshing = refreshing
    if refreshing.isStuck { giveUpSlot(refreshing) }
  }

  /// Starts the deadline of a refresh whose start is performed; stops the refresh if a hold came up while the start was
  /// being saved.
  mutating func startDeadline(_ refresh: RefreshID, _ turn: inout Turn) {
    guard let index = index(of: refresh), var refreshing = apps[index].refreshing, refreshing.stage == .started else {
      return
    }
    turn.touch(index)
    // A yes that outlasted the wait for a slot counts for this start only, unless the disk was slow to save it.
    if turn.now >= refreshing.started.at + ConditionQuestion.validity {
      apps[index].questions.extend(whileQueued: false, at: turn.now)
    }
    defer { apps[index].questions.extend(whileQueued: false, at: turn.now) }
    let holds = judge.holds(on: apps[index], for: refreshing.started.trigger, at: turn.now)
    guard holds.isEmpty else {
      let lost = Constraint.allCases.filter { !judge.isMet($0, by: apps[index], at: turn.now) }
      return stop(index, .constraintLost, because: judge.text(lacking: lost, by: apps[index]), &turn)
    }
    let saved = refreshing.started
    refreshing.startDeadline(at: turn.now)
    apps[index].refreshing = refreshing
    // A start that waited for the disk is saved again: the age of the data and the next refresh count from the real start.
    guard refreshing.started != saved else { return }
    let interval = apps[index].fixedInterval(limits: judge.limits)
    apps[index].timetable.start(at: turn.now, every: interval)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  /// Lets a refresh that has run for long count against its own user only.
  private mutating func ageSlot(_ refreshing: inout Refreshing, at now: Instant) {
    if judge.running.age(&refreshing, at: now) { schedule.considerAll() }
  }

  /// Removes a refresh that has ended from the running ones.
  private mutating func freeSlot(_ refreshing: Refreshing) {
    if judge.running.remove(refreshing) { schedule.considerAll() }
  }

  /// Frees the slot of a refresh whose processes no signal ends; its app stays busy until they end.
  private mutating func giveUpSlot(_ refreshing: Refreshing) {
    if judge.running.giveUp(refreshing) { schedule.considerAll() }
  }

  /// Asks the app's running refresh to end, if there is one.
  ///
  /// For a lost constraint, `detail` has the needed and the present condition.
  mutating func stop(_ index: AppIndex, _ reason: StopReason, because detail: String = "", _ turn: inout Turn) {
    guard let refreshing = apps[index].refreshing, refreshing.stopReason == nil else { return }
    let (id, now) = (apps.id(at: index), turn.now)
    changeRefreshing(of: index, &turn) { $0.stop(reason, because: detail, app: id, at: now) }
  }

  /// Stops a running refresh as its deadline would, unless it was asked to end before.
  mutating func expire(_ refresh: RefreshID, _ turn: inout Turn) {
    guard let index = index(of: refresh), apps[index].refreshing?.stopReason == nil else { return }
    let (id, now) = (apps.id(at: index), turn.now)
    changeRefreshing(of: index, &turn) { $0.expire(app: id, at: now) }
  }

  /// Stops everything for good, in order of id, except the refreshes left to the next daemon.
  mutating func stop(leaving left: Set<RefreshID>, _ turn: inout Turn) {
    judge.stop()
    turn.decision.changes.learned.formUnion(planner.takeOpened())
    endOpeningsOfDaemon(&turn)
    transfers.touch()
    turn.touched.insert(apps.indexes)
    for id in judge.running.apps(without: left) {
      if let index = apps.index(of: id) { stop(index, .shutdown, &turn) }
    }
  }

  /// Applies the end of a task, and starts the tasks that now wait for no other.
  mutating func endTask(_ refresh: RefreshID, _ task: Int, _ end: TaskEnd, _ turn: inout Turn) {
    guard let index = index(of: refresh) else { return }
    let id = apps.id(at: index)
    let (now, end) = (turn.now, countingNotTaken(end, by: index))
    var next: [Int] = []
    var (record, deadline): (TaskRecord?, Instant?)
    changeRefreshing(of: index, &turn) { refreshing in
      record = refreshing.end(task: task, end, at: now)
      deadline = refreshing.deadline.at
      next = refreshing.startNext(at: now)
      return nil
    }
    if let record, let deadline {
      turn.decision.tasksEnded.append(EndedTask(refresh, of: id, record, deadline: deadline))
    }
    turn.decision.effects += next.map { .startTask(refresh, id, task: $0) }
  }

  /// Changes the running refresh of an id; does nothing for an unknown refresh.
  mutating func changeRefreshing(_ refresh: RefreshID, _ turn: inout Turn, change: (inout Refreshing) -> Void) {
    guard let index = index(of: refresh) else { return }
    changeRefreshing(of: index, &turn) { refreshing in
      change(&refreshing)
      return nil
    }
  }

  /// Changes the app's running refresh, performs the effect of the change, and ends the refresh if no task is left.
  ///
  /// Every change of a running refresh goes through here, except for its start and the steps that time takes.
  mutating func changeRefreshing(of index: AppIndex, _ turn: inout Turn, change: (inout Refreshing) -> Effect?) {
    guard var refreshing = apps[index].refreshing else { return }
    let effect = change(&refreshing)
    turn.touch(index)
    apps[index].refreshing = refreshing
    if let effect { turn.decision.effects.append(effect) }
    if refreshing.isDone { end(index, refreshing, &turn) }
  }

  /// Counts how often in a row an activated app has not taken its refresh; from the fourth time on that is a failure.
  private mutating func countingNotTaken(_ end: TaskEnd, by index: AppIndex) -> TaskEnd {
    guard end.exit == .notTaken, apps[index].timetable.notTaken < 3 else {
      apps[index].timetable.endNotTaken()
      var end = end
      if end.exit == .notTaken { end.exit = .lostClient }
      return end
    }
    apps[index].timetable.countNotTaken()
    return end
  }

  /// Gives a refresh its outcome after its last task.
  private mutating func end(_ index: AppIndex, _ refreshing: Refreshing, _ turn: inout Turn) {
    let id = apps.id(at: index)
    var record = refreshing.record(of: id, at: turn.now)
    freeSlot(refreshing)
    apps[index].refreshing = nil
    apps[index].questions.extend(whileQueued: false, at: turn.now)
    if apps[index].isAttached { expectOwnWrites(of: index, at: turn.now) }
    let freshBefore = apps[index].timetable.freshAt
    // The app may have synced by itself meanwhile.
    if record.outcome.isFresh {
      apps[index].timetable.freshen(from: record.startedAt)
      let isOfGrid = apps[index].phase == .background && record.trigger.servesInterval
      if !isOfGrid { apps[index].timetable.restartGrid(at: record.startedAt) }
    }
    // A refresh that shutdown, a lost constraint or sleep stopped runs again; no failure is counted.
    let isCutShort = record.tasks.contains(where: \.isCutShort)
    if record.stopReason == .deadline { apps[index].timetable.strike(at: turn.now) }
    let hints = refreshing.hints
    let retryAt =
      startsAgainAt(index, refreshing, record, at: turn.now)
      ?? countFailure(index, record, isCutShort: isCutShort, after: hints.retryAfter, at: turn.now)
    if let retryAt, !isCutShort { apps[index].requests.delayRetry(until: retryAt) }
    if refreshing.started.session != nil {
      resolveSession(record, refreshing.started, retryAt: retryAt, &turn)
    } else if refreshing.started.push != nil {
      let again = retryOfPush(index, refreshing.started, record, retryAt: retryAt, at: turn.now)
      record.push = resolvePush(index, refreshing.started, retryAt: again, &turn)
    } else if let retryAt {
      apps[index].request(.retry, at: retryAt)
    }
    let refusedUntil = hints.retryAfter == nil ? nil : retryAt
    apps[index].timetable.setServerWord(
      until: record.outcome.isFresh ? hints.freshFor.map { record.endedAt + $0 } : refusedUntil)
    learn(from: record, after: refreshing.tasks.hasGuess ? nil : freshBefore, &turn)
    countEnd(record, &turn)
    turn.decision.changes.apps.insert(id)
    turn.decision.changes.history.refreshes.append(record)
  }
}

// What the planner learns, and the plans that follow.

extension Engine {
  /// Learns from a refresh that has ended, and plans the next one.
  ///
  /// `freshBefore` is when the last sync before it began; nil without one, and if the outcome of this refresh is a guess.
  private mutating func learn(from record: RefreshRecord, after freshBefore: Instant?, _ turn: inout Turn) {
    guard let index = apps.index(of: record.app), apps[index].hasHabits else { return }
    let lastSync = freshBefore.map { max($0, apps[index].timetable.newsAt ?? $0) }
    planner.learn(from: record, of: apps[index], at: index, after: lastSync, judge)
    if record.foundNew, !record.outcome.isFresh { apps[index].timetable.findNews(at: record.startedAt) }
    turn.decision.changes.learned.insert(record.app)
    plan(index, at: turn.now)
  }

  /// Plans the next background refresh of an app.
  mutating func plan(_ index: AppIndex, at now: Instant) {
    setPlanned(planner.nextPlanned(of: apps[index], at: index, judge, now: now), of: index)
  }

  private mutating func setPlanned(_ planned: Instant?, of index: AppIndex) {
    guard planned != apps[index].timetable.planned || apps[index].timetable.needsPlan else { return }
    apps[index].timetable.plan(planned)
  }

  /// Does a slice of the present round through the apps.
  mutating func goRound(_ turn: inout Turn) {
    for renewed in planner.goRound(apps, judge, &turn) {
      let before = apps[renewed.index].timetable.planned
      if let planned = renewed.planned { setPlanned(planned, of: renewed.index) }
      if apps[renewed.index].timetable.planned != before {
        turn.decision.changes.apps.insert(apps.id(at: renewed.index))
      }
      turn.touch(renewed.index)
    }
  }

  /// Forgets an app's learners, and the openings that desktops showed, which may belong to another app (`refreshctl usage
  /// APP --forget`).
  mutating func forget(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    planner.setLearned(nil, of: index)
    forgetOpenings(of: index, &turn)
    if apps[index].isPlanned {
      planner.passNights(of: apps[index], at: index, upTo: judge.clock.local(turn.now).day, judge)
    }
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.learned.insert(id)
    turn.decision.changes.apps.insert(id)
  }
}

// A sync that an app made by itself, outside of any refresh.

extension Engine {
  /// Counts a sync by the app itself as a refresh: for the age of the data, the interval, the history and the learners.
  ///
  /// It is not an opening and costs nothing. The sync also satisfies due interval, retry, opening and change refreshes.
  /// Manual, push and transfer requests remain, and so does a skip. A running refresh goes on; it does not make the data
  /// older again, and nothing is learnt from its outcome.
  mutating func recordOwnSync(of id: AppID, foundNew: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    let record = RefreshRecord(
      id: makeRefreshID(), app: id, trigger: .reported, startedAt: turn.now, endedAt: turn.now,
      outcome: foundNew ? .newData : .noData)
    let freshBefore = apps[index].timetable.freshAt
    apps[index].timetable.sync(at: turn.now)
    if let asked = apps[index].requests.pending, !asked.trigger.isAskedFor {
      apps[index].dropRequest(at: turn.now)
      apps[index].requests.endWaitForUser()
    }
    apps[index].requests.forgetChange()
    expectOwnWrites(of: index, at: turn.now)
    turn.touch(index)
    learn(from: record, after: freshBefore, &turn)
    countEnd(record, &turn)
    turn.decision.changes.apps.insert(id)
    turn.decision.changes.history.refreshes.append(record)
  }
}

extension Engine {
  /// Counts the end of a refresh, and has it reported if the file asks for that or the app is failing.
  ///
  /// A stopped refresh counts as neither success nor failure, unless its deadline stopped it.
  private mutating func countEnd(_ record: RefreshRecord, _ turn: inout Turn) {
    guard let index = apps.index(of: record.app), let policy = apps[index].policy, !record.isUnfinished else { return }
    let report = apps[index].reports.count(record, failuresBeforeNotice: policy.failuresBeforeNotice)
    if policy.reportsEnds || report.isFailing { turn.decision.effects.append(.reportEnd(report, record.app)) }
  }

  /// Expects the app's long-lived process to write for a moment longer, because it has just synced.
  private mutating func expectOwnWrites(of index: AppIndex, at now: Instant) {
    if apps[index].policy?.watch.isEmpty == false { apps[index].requests.expectWrites(at: now) }
  }
}

// Refreshes of the previous daemon: adopts survivors, and gives lost refreshes their outcome.

extension Engine {
  /// Adopts a refresh of the previous daemon if any of its tasks has survived.
  mutating func adopt(_ index: AppIndex, _ started: Started, by policy: Policy?, _ turn: inout Turn) {
    let survivors = judge.running.survivors(of: started.id).filter { policy?.tasks.indices.contains($0) == true }
    guard let policy, !survivors.isEmpty else { return resolveLost(index, started, &turn) }
    var refreshing = Refreshing(started, policy: policy, survivors: survivors, at: turn.now)
    let next = refreshing.startNext(at: turn.now)
    let id = apps.id(at: index)
    judge.running.add(refreshing, of: id)
    ageSlot(&refreshing, at: turn.now)
    apps[index].refreshing = refreshing
    turn.decision.effects += next.map { .startTask(started.id, id, task: $0) }
  }

  /// Gives a lost refresh of the previous daemon its one outcome, and runs the app again.
  ///
  /// A lost retry is not repeated at once: it may have caused the crash.
  private mutating func resolveLost(_ index: AppIndex, _ started: Started, _ turn: inout Turn) {
    let id = apps.id(at: index)
    apps[index].refreshing = nil
    let push = resolvePush(index, started, retryAt: retryOfLostPush(index, started, at: turn.now), &turn)
    if started.session == nil, push == nil, started.trigger != .retry { apps[index].request(.retry, at: turn.now) }
    turn.decision.changes.apps.insert(id)
    var record = RefreshRecord(
      id: started.id, app: id, trigger: started.trigger, startedAt: started.at, endedAt: turn.now,
      outcome: .failed(.daemonCrashed))
    record.push = push
    turn.decision.changes.history.refreshes.append(record)
  }
}

// Retries: runs a refresh again that failed and is worth a retry, or was cut short.

extension Engine {
  /// The wait for a retry: the back-off, and up to a fifth more.
  ///
  /// The fifth differs from try to try, so that the clients of a server that was down do not all return at once.
  static func retryWait(after failures: Int32, of id: AppID, _ spread: Spread) -> Duration {
    BackOff.refreshes.wait(after: failures) { spread.offset(of: id, within: $0 / 5, turn: UInt64(failures)) }
  }

  /// When an ended refresh runs again; nil if it does not.
  ///
  /// A refresh that was cut short runs again at once, and counts as neither failure nor success. A failure that is worth a
  /// retry waits for the back-off. A failure with a wait that the app named is always worth a retry.
  private mutating func countFailure(
    _ index: AppIndex, _ record: RefreshRecord, isCutShort: Bool, after hint: Duration?, at now: Instant
  ) -> Instant? {
    guard !isCutShort else { return now }
    guard record.outcome.isWorthRetry || hint != nil && !record.outcome.isFresh else {
      apps[index].timetable.endFailures()
      return nil
    }
    let failures = apps[index].timetable.countFailure()
    return now + max(hint ?? .zero, Self.retryWait(after: failures, of: apps.id(at: index), judge.spread))
  }

  /// When to retry a refresh that could not start for lack of processes or memory; nil for others, and after 20 in a row.
  ///
  /// It does not count as a failure for the back-off, because the app did nothing wrong.
  private mutating func startsAgainAt(
    _ index: AppIndex, _ refreshing: Refreshing, _ record: RefreshRecord, at now: Instant
  ) -> Instant? {
    guard refreshing.tasks.lackedMeans, record.hasStartedNothing, apps[index].timetable.failedStarts < 20 else {
      apps[index].timetable.endFailedStarts()
      return nil
    }
    let failures = apps[index].timetable.countFailedStart()
    return now
      + BackOff.starts.wait(after: failures) { judge.spread.offset(of: record.app, within: $0 / 5) }
  }
}

extension Outcome {
  /// Whether the cause of the failure may be gone at the next try.
  fileprivate var isWorthRetry: Bool {
    switch self {
    case .failed(.temporary), .failed(.lostClient): true
    default: false
    }
  }
}
