// Refreshes of the previous daemon: adopts survivors, and gives lost refreshes their outcome.

extension Engine {
  /// Adopts a refresh of the previous daemon if any of its tasks has survived.
  mutating func adopt(_ id: AppID, _ started: Started, by policy: Policy?, _ turn: inout Turn) {
    let survivors = (survivors[started.id] ?? []).filter { policy?.tasks.indices.contains($0) == true }
    guard let policy, !survivors.isEmpty else { return resolveLost(id, started, &turn) }
    var refreshing = Refreshing(started, policy: policy, survivors: survivors, at: turn.now)
    let next = refreshing.startNext(at: turn.now)
    occupySlot(refreshing, of: id)
    ageSlot(&refreshing, at: turn.now)
    apps[id]?.refreshing = refreshing
    turn.decision.effects += next.map { .startTask(started.id, id, task: $0) }
  }

  /// Gives a lost refresh of the previous daemon its one outcome, and runs the app again.
  ///
  /// A lost retry is not repeated at once: it may have caused the crash.
  private mutating func resolveLost(_ id: AppID, _ started: Started, _ turn: inout Turn) {
    apps[id]?.refreshing = nil
    let push = resolvePush(id, started, retryAt: retryOfLostPush(id, started, at: turn.now), &turn)
    if started.session == nil, push == nil, started.trigger != .retry { apps[id]?.ask(.retry, at: turn.now) }
    turn.decision.changes.apps.insert(id)
    var record = RefreshRecord(
      id: started.id, app: id, trigger: started.trigger, startedAt: started.at, endedAt: turn.now,
      outcome: .failed(.daemonCrashed))
    record.push = push
    turn.decision.changes.history.refreshes.append(record)
  }
}
