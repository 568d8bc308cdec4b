// A sync that an app made by itself, outside of any refresh.

extension Engine {
  /// Counts a sync of the app's own as a refresh: for the age of the data, the floor, the history and what is learnt.
  ///
  /// It is no opening and costs nothing. A refresh by time, a retry and the refresh of an opening or a change that
  /// wait are done with it; what a person, a push or a session of transfers asked for is not, and neither is a skip. A refresh that is
  /// running goes on: it does not make the data older again, and nothing is learnt from its outcome.
  mutating func noteOwnSync(of id: AppID, foundNew: Bool, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil else { return }
    let record = RefreshRecord(
      id: makeID(), app: id, trigger: .reported, startedAt: turn.now, endedAt: turn.now,
      outcome: foundNew ? .newData : .noData)
    apps[id]?.state.lastStart = turn.now
    apps[id]?.state.freshAt = turn.now
    apps[id]?.state.failures = 0
    apps[id]?.state.freshUntil = nil
    if let asked = app.state.request, !asked.trigger.isAskedFor {
      apps[id]?.dropRequest(at: turn.now)
      apps[id]?.isRetryForUser = false
    }
    apps[id]?.change = nil
    noteOwnWrites(of: id, at: turn.now)
    touch(id, &turn)
    learn(from: record, after: app.state.freshAt, &turn)
    noteEnd(record, &turn)
    turn.decision.changed.insert(id)
    turn.decision.ended.append(record)
  }
}
