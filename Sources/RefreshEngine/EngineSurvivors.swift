// What a daemon finds of the refreshes that the one before it began.

extension Engine {
  /// Goes on with a refresh that was running when the daemon before this one ended, if anything of it is there still.
  mutating func takeOver(_ id: AppID, _ started: Started, by policy: Policy?, _ turn: inout Turn) {
    let survivors = (survivors[started.id] ?? []).filter { policy?.tasks.indices.contains($0) == true }
    guard let policy, !survivors.isEmpty else { return settleLost(id, started, &turn) }
    var refreshing = Refreshing(started, policy: policy, survivors: survivors, at: turn.now)
    let next = refreshing.startNext(at: turn.now)
    takePlace(refreshing, of: id)
    apps[id]?.refreshing = refreshing
    turn.decision.effects += next.map { .startTask(started.id, id, task: $0) }
  }

  /// Gives the refresh that the daemon before this one lost its one outcome, and runs the app again.
  ///
  /// One that was such a retry is not tried a third time at once: it may be what brought the daemon down.
  private mutating func settleLost(_ id: AppID, _ started: Started, _ turn: inout Turn) {
    apps[id]?.refreshing = nil
    let push = takePush(id, started, retryAt: retryOfLostPush(id, started, at: turn.now), &turn)
    if started.session == nil, push == nil, started.trigger != .retry { apps[id]?.ask(.retry, at: turn.now) }
    turn.decision.changed.insert(id)
    var record = RefreshRecord(
      id: started.id, app: id, trigger: started.trigger, startedAt: started.at, endedAt: turn.now,
      outcome: .failed(.daemonCrashed))
    record.push = push
    turn.decision.ended.append(record)
  }
}
