// Refreshes of the previous daemon: adopts survivors, and gives lost refreshes their outcome.

extension Engine {
  /// Adopts a refresh of the previous daemon if any of its tasks has survived.
  mutating func adopt(_ index: AppIndex, _ started: Started, by policy: Policy?, _ turn: inout Turn) {
    let survivors = (survivors[started.id] ?? []).filter { policy?.tasks.indices.contains($0) == true }
    guard let policy, !survivors.isEmpty else { return resolveLost(index, started, &turn) }
    var refreshing = Refreshing(started, policy: policy, survivors: survivors, at: turn.now)
    let next = refreshing.startNext(at: turn.now)
    let id = apps.id(at: index)
    occupySlot(refreshing, of: id)
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
    if started.session == nil, push == nil, started.trigger != .retry { apps[index].ask(.retry, at: turn.now) }
    turn.decision.changes.apps.insert(id)
    var record = RefreshRecord(
      id: started.id, app: id, trigger: started.trigger, startedAt: started.at, endedAt: turn.now,
      outcome: .failed(.daemonCrashed))
    record.push = push
    turn.decision.changes.history.refreshes.append(record)
  }
}
