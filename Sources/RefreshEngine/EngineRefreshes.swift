// Refreshes on their way to their end.

extension Engine {
  /// Takes every step of the app's refresh that is overdue.
  mutating func advance(_ id: AppID, _ turn: inout Turn) {
    guard var refreshing = apps[id]?.refreshing else { return }
    while let effect = refreshing.advance(app: id, at: turn.now) {
      turn.decision.effects.append(effect)
    }
    apps[id]?.activity = .refreshing(refreshing)
  }

  /// Asks the app's refresh to end, if one runs.
  mutating func stop(_ id: AppID, _ reason: StopReason, _ turn: inout Turn) {
    guard var refreshing = apps[id]?.refreshing else { return }
    guard let effect = refreshing.stop(reason, app: id, at: turn.now) else { return }
    apps[id]?.activity = .refreshing(refreshing)
    turn.touched.insert(id)
    turn.decision.effects.append(effect)
  }

  /// Stops everything, in order of id, for good.
  mutating func stop(_ turn: inout Turn) {
    isStopping = true
    turn.touched.formUnion(apps.ids)
    for id in running.values.sorted() { stop(id, .shutdown, &turn) }
  }

  /// Changes a running refresh, and ends it if that was its last task.
  mutating func changeRefreshing(_ refresh: RefreshID, _ turn: inout Turn, change: (inout Refreshing) -> Void) {
    guard let id = running[refresh], var refreshing = apps[id]?.refreshing else { return }
    change(&refreshing)
    turn.touched.insert(id)
    if refreshing.isDone {
      end(id, refreshing, &turn)
    } else {
      apps[id]?.activity = .refreshing(refreshing)
    }
  }

  /// Gives a refresh whose last task has ended its outcome.
  mutating func end(_ id: AppID, _ refreshing: Refreshing, _ turn: inout Turn) {
    let record = refreshing.record(of: id, at: turn.now)
    running[record.id] = nil
    apps[id]?.activity = .waiting
    if record.outcome.isFresh { apps[id]?.freshAt = record.startedAt }
    // What a stopping daemon cut short is owed: it runs again after the next start.
    let isCutShort = record.tasks.contains { $0.outcome == .failed(.stopped(.shutdown)) }
    if isCutShort { apps[id]?.ask(.retry, at: turn.now) }
    turn.decision.changed.insert(id)
    turn.decision.ended.append(record)
  }

  /// Gives the refresh that the daemon before this one lost its one outcome, and runs the app again.
  ///
  /// One that was such a retry is not tried a third time at once: it may be what brought the daemon down.
  mutating func settleLost(_ id: AppID, _ started: Started, _ turn: inout Turn) {
    apps[id]?.activity = .waiting
    if started.trigger != .retry { apps[id]?.ask(.retry, at: turn.now) }
    turn.decision.changed.insert(id)
    turn.decision.ended.append(
      RefreshRecord(
        id: started.id, app: id, trigger: started.trigger, startedAt: started.at, endedAt: turn.now,
        outcome: .failed(.daemonCrashed)))
  }
}
