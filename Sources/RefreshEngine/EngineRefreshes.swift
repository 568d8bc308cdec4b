// Refreshes on their way to their end.

extension Engine {
  /// Takes every step of the app's refresh that is overdue.
  mutating func advance(_ id: AppID, _ turn: inout Turn) {
    guard var refreshing = apps[id]?.refreshing else { return }
    while let effect = refreshing.advance(app: id, at: turn.now) {
      turn.decision.effects.append(effect)
    }
    apps[id]?.refreshing = refreshing
  }

  /// Asks the app's refresh to end, if one runs.
  mutating func stop(_ id: AppID, _ reason: StopReason, _ turn: inout Turn) {
    guard var refreshing = apps[id]?.refreshing else { return }
    guard let effect = refreshing.stop(reason, app: id, at: turn.now) else { return }
    apps[id]?.refreshing = refreshing
    touch(id, &turn)
    turn.decision.effects.append(effect)
  }

  /// Stops everything, in order of id, for good, but for what is left to the daemon after this one.
  mutating func stop(leaving left: Set<RefreshID>, _ turn: inout Turn) {
    isStopping = true
    transfers.isTouched = true
    turn.touched.insert(apps.allPlaces)
    for (_, id) in running.filter({ !left.contains($0.key) }).sorted(by: { $0.value < $1.value }) {
      stop(id, .shutdown, &turn)
    }
  }

  /// Takes note of the end of a task, and starts those that waited for nothing else.
  mutating func endTask(_ refresh: RefreshID, _ task: Int, _ end: TaskEnd, _ turn: inout Turn) {
    guard let id = running[refresh] else { return }
    let now = turn.now
    var next: [Int] = []
    changeRefreshing(refresh, &turn) { refreshing in
      refreshing.end(task: task, end, at: now)
      next = refreshing.startNext(at: now)
    }
    turn.decision.effects += next.map { .startTask(refresh, id, task: $0) }
  }

  /// Changes a running refresh, and ends it if that was its last task.
  mutating func changeRefreshing(_ refresh: RefreshID, _ turn: inout Turn, change: (inout Refreshing) -> Void) {
    guard let id = running[refresh], var refreshing = apps[id]?.refreshing else { return }
    change(&refreshing)
    touch(id, &turn)
    if refreshing.isDone {
      end(id, refreshing, &turn)
    } else {
      apps[id]?.refreshing = refreshing
    }
  }

  /// Gives a refresh whose last task has ended its outcome.
  mutating func end(_ id: AppID, _ refreshing: Refreshing, _ turn: inout Turn) {
    var record = refreshing.record(of: id, at: turn.now)
    leavePlace(refreshing)
    apps[id]?.refreshing = nil
    let freshBefore = apps[id]?.state.freshAt
    if record.outcome.isFresh { apps[id]?.state.freshAt = record.startedAt }
    // What a stopping daemon cut short is owed, what a lost condition did, and what sleep did: it runs again when it can.
    let isCutShort = record.tasks.contains(where: \.isCutShort)
    if record.stopReason == .deadline { strike(id, at: turn.now) }
    let retryAt = takeFailure(id, record, isCutShort: isCutShort, after: refreshing.retryAfter, at: turn.now)
    if let retryAt, !isCutShort { apps[id]?.delayRetry(until: retryAt) }
    if refreshing.started.session != nil {
      takeWake(id, record, refreshing.started, retryAt: retryAt, &turn)
    } else if refreshing.started.push != nil {
      let again = retryOfPush(id, refreshing.started, record, retryAt: retryAt, at: turn.now)
      record.push = takePush(id, refreshing.started, retryAt: again, &turn)
    } else if let retryAt {
      apps[id]?.ask(.retry, at: retryAt)
    }
    apps[id]?.state.freshUntil = record.outcome.isFresh ? refreshing.freshFor.map { record.endedAt + $0 } : nil
    learn(from: record, after: freshBefore, &turn)
    turn.decision.changed.insert(id)
    turn.decision.ended.append(record)
  }

  /// When to try again what was cut short, at once, or what failed in a way that is worth a retry, each time after twice
  /// as long (FEATURES C6); nil for what is not tried again.
  ///
  /// What was cut short is neither a failure nor a success. A failure for which the app said when to try again is worth a
  /// retry whatever its cause.
  private mutating func takeFailure(
    _ id: AppID, _ record: RefreshRecord, isCutShort: Bool, after hint: Duration?, at now: Instant
  ) -> Instant? {
    guard !isCutShort else { return now }
    guard let app = apps[id], record.outcome.isWorthRetry || hint != nil && !record.outcome.isFresh else {
      apps[id]?.state.failures = 0
      return nil
    }
    let failures = min(app.state.failures + 1, Self.mostDoublings)
    apps[id]?.state.failures = failures
    return now + max(hint ?? .zero, Self.backOff(failures: failures, of: id, spread))
  }

  /// The longest wait that an app may ask for.
  static let longestRetryAfter = Duration.hours(24)
  /// The longest time for which an app may say that there is nothing newer; the ceiling stands above it.
  static let longestFreshFor = Duration.hours(24)

  /// The first wait before a retry, and how often it is doubled at most: 30 s to 4 h 16 min.
  private static let firstRetry = Duration.seconds(30)
  private static let mostDoublings: Int32 = 10

  /// How long a retry waits: 30 s, doubled with each failure, and up to a fifth more; 5 h at most (FEATURES C6).
  ///
  /// The fifth is another part each time, so that the clients of a server that was gone do not all come back at once.
  static func backOff(failures: Int32, of id: AppID, _ spread: Spread) -> Duration {
    let wait = firstRetry * (1 << Int(min(max(failures, 1), mostDoublings) - 1))
    return min(.hours(5), wait + spread.offset(of: id, within: wait / 5, turn: UInt64(failures)))
  }

  /// Takes note that the app overran its deadline (FEATURES C7).
  private mutating func strike(_ id: AppID, at now: Instant) {
    apps[id]?.state.strikes.append(now)
    if let count = apps[id]?.state.strikes.count, count > App.strikesToRest { apps[id]?.state.strikes.removeFirst() }
  }
}

extension Outcome {
  /// Whether it is a failure that its own cause says to try again.
  fileprivate var isWorthRetry: Bool {
    switch self {
    case .failed(.temporary), .failed(.lostClient): true
    default: false
    }
  }
}

extension TaskRecord {
  /// Whether it was stopped for what is neither its own fault nor anybody's wish.
  fileprivate var isCutShort: Bool {
    if outcome == .failed(.daemonCrashed) { return true }
    guard case .failed(.stopped(let reason)) = outcome else { return false }
    return reason == .shutdown || reason == .constraintLost || reason == .sleep
  }
}
