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
  mutating func startClock(_ refresh: RefreshID, _ turn: inout Turn) {
    guard let index = index(of: refresh), var refreshing = apps[index].refreshing, refreshing.stage == .started else {
      return
    }
    turn.touch(index)
    // A yes that outlasted the wait for a slot counts for this start only, unless the disk was slow to save it.
    if turn.now >= refreshing.started.at + ConditionQuestion.validity { apps[index].keepAnswers(false, at: turn.now) }
    defer { apps[index].keepAnswers(false, at: turn.now) }
    let holds = holds(on: apps[index], apps.id(at: index), for: refreshing.started.trigger, at: turn.now)
    guard holds.isEmpty else {
      let lost = Constraint.allCases.filter { !isMet($0, by: apps[index], at: turn.now) }
      return stop(index, .constraintLost, because: text(lacking: lost, by: apps[index]), &turn)
    }
    let saved = refreshing.started
    refreshing.startClock(at: turn.now)
    apps[index].refreshing = refreshing
    // A start that waited for the disk is saved again: the age of the data and the next refresh count from the real start.
    guard refreshing.started != saved else { return }
    apps[index].state.lastStart = turn.now
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  /// Asks the app's running refresh to end, if there is one.
  ///
  /// For a lost constraint, `detail` has the needed and the present condition.
  mutating func stop(_ index: AppIndex, _ reason: StopReason, because detail: String = "", _ turn: inout Turn) {
    guard var refreshing = apps[index].refreshing else { return }
    guard refreshing.stopReason == nil else { return }
    let effect = refreshing.stop(reason, because: detail, app: apps.id(at: index), at: turn.now)
    keepOrEnd(index, refreshing, effect, &turn)
  }

  /// Lets a running refresh expire, unless it has ended or is asked to end.
  mutating func expire(_ refresh: RefreshID, _ turn: inout Turn) {
    guard let index = index(of: refresh), var refreshing = apps[index].refreshing, refreshing.stopReason == nil else {
      return
    }
    let effect = refreshing.expire(app: apps.id(at: index), at: turn.now)
    keepOrEnd(index, refreshing, effect, &turn)
  }

  /// Keeps a refresh that was asked to end, or ends it if none of its tasks runs.
  mutating func keepOrEnd(_ index: AppIndex, _ refreshing: Refreshing, _ effect: Effect?, _ turn: inout Turn) {
    turn.touch(index)
    apps[index].refreshing = refreshing
    if let effect { turn.decision.effects.append(effect) }
    if refreshing.isDone { end(index, refreshing, &turn) }
  }

  /// Stops everything for good, in order of id, except the refreshes left to the next daemon.
  mutating func stop(leaving left: Set<RefreshID>, _ turn: inout Turn) {
    isStopping = true
    turn.decision.changes.learned.formUnion(opened)
    opened = []
    // A signal outlives the daemon; a lease and the presence on desktops do not.
    for index in apps.indexes where apps[index].isOpen && !apps[index].state.isForeground {
      apps[index].isOpen = false
      turn.decision.changes.history.openings.append(Opening(app: apps.id(at: index), at: turn.now, change: .ended))
    }
    transfers.isTouched = true
    turn.touched.insert(apps.indexes)
    for (_, id) in running.filter({ !left.contains($0.key) }).sorted(by: { $0.value < $1.value }) {
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
    changeRefreshing(refresh, &turn) { refreshing in
      record = refreshing.end(task: task, end, at: now)
      deadline = refreshing.deadline.at
      next = refreshing.startNext(at: now)
    }
    if let record, let deadline {
      turn.decision.tasksEnded.append(EndedTask(refresh, of: id, record, deadline: deadline))
    }
    turn.decision.effects += next.map { .startTask(refresh, id, task: $0) }
  }

  /// Changes a running refresh, and ends it if that was its last task.
  mutating func changeRefreshing(_ refresh: RefreshID, _ turn: inout Turn, change: (inout Refreshing) -> Void) {
    guard let index = index(of: refresh), var refreshing = apps[index].refreshing else { return }
    change(&refreshing)
    turn.touch(index)
    if refreshing.isDone {
      end(index, refreshing, &turn)
    } else {
      apps[index].refreshing = refreshing
    }
  }

  /// Counts how often in a row an activated app has not taken its refresh; from the fourth time on that is a failure.
  private mutating func countingNotTaken(_ end: TaskEnd, by index: AppIndex) -> TaskEnd {
    guard end.exit == .notTaken, apps[index].notTaken < 3 else {
      apps[index].notTaken = 0
      var end = end
      if end.exit == .notTaken { end.exit = .lostClient }
      return end
    }
    apps[index].notTaken += 1
    return end
  }

  /// Gives a refresh its outcome after its last task.
  mutating func end(_ index: AppIndex, _ refreshing: Refreshing, _ turn: inout Turn) {
    let id = apps.id(at: index)
    var record = refreshing.record(of: id, at: turn.now)
    freeSlot(refreshing)
    apps[index].refreshing = nil
    apps[index].keepAnswers(false, at: turn.now)
    if apps[index].isAttached { noteOwnWrites(of: index, at: turn.now) }
    let freshBefore = apps[index].state.freshAt
    // The app may have synced by itself meanwhile.
    if record.outcome.isFresh { apps[index].state.freshAt = max(record.startedAt, freshBefore ?? record.startedAt) }
    // A refresh that shutdown, a lost constraint or sleep stopped runs again; no failure is counted.
    let isCutShort = record.tasks.contains(where: \.isCutShort)
    if record.stopReason == .deadline { strike(index, at: turn.now) }
    let hints = refreshing.hints
    let retryAt =
      startsAgainAt(index, refreshing, record, at: turn.now)
      ?? countFailure(index, record, isCutShort: isCutShort, after: hints.retryAfter, at: turn.now)
    if let retryAt, !isCutShort { apps[index].delayRetry(until: retryAt) }
    if refreshing.started.session != nil {
      resolveWake(record, refreshing.started, retryAt: retryAt, &turn)
    } else if refreshing.started.push != nil {
      let again = retryOfPush(index, refreshing.started, record, retryAt: retryAt, at: turn.now)
      record.push = resolvePush(index, refreshing.started, retryAt: again, &turn)
    } else if let retryAt {
      apps[index].ask(.retry, at: retryAt)
    }
    let refusedUntil = hints.retryAfter == nil ? nil : retryAt
    apps[index].state.freshUntil = record.outcome.isFresh ? hints.freshFor.map { record.endedAt + $0 } : refusedUntil
    learn(from: record, after: refreshing.tasks.hasGuess ? nil : freshBefore, &turn)
    noteEnd(record, &turn)
    turn.decision.changes.apps.insert(id)
    turn.decision.changes.history.refreshes.append(record)
  }
}
