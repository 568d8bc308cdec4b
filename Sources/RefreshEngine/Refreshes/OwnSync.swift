// A sync that an app made by itself, outside of any refresh.

extension Engine {
  /// Counts a sync by the app itself as a refresh: for the age of the data, the interval, the history and the learners.
  ///
  /// It is no opening and costs nothing. The sync also satisfies due interval, retry, opening and change refreshes. Manual,
  /// push and transfer requests remain, and so does a skip. A running refresh goes on; it does not make the data older
  /// again, and its outcome teaches nothing.
  mutating func noteOwnSync(of id: AppID, foundNew: Bool, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil else { return }
    let record = RefreshRecord(
      id: makeRefreshID(), app: id, trigger: .reported, startedAt: turn.now, endedAt: turn.now,
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
    turn.decision.changes.apps.insert(id)
    turn.decision.changes.history.refreshes.append(record)
  }
}
