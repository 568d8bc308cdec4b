// A sync that an app made by itself, outside of any refresh.

extension Engine {
  /// Counts a sync by the app itself as a refresh: for the age of the data, the interval, the history and the learners.
  ///
  /// It is no opening and costs nothing. The sync also satisfies due interval, retry, opening and change refreshes. Manual,
  /// push and transfer requests remain, and so does a skip. A running refresh goes on; it does not make the data older
  /// again, and its outcome teaches nothing.
  mutating func noteOwnSync(of id: AppID, foundNew: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    let record = RefreshRecord(
      id: makeRefreshID(), app: id, trigger: .reported, startedAt: turn.now, endedAt: turn.now,
      outcome: foundNew ? .newData : .noData)
    let freshBefore = apps[index].state.freshAt
    apps[index].state.lastStart = turn.now
    apps[index].state.freshAt = turn.now
    apps[index].state.failures = 0
    apps[index].state.freshUntil = nil
    if let asked = apps[index].state.request, !asked.trigger.isAskedFor {
      apps[index].dropRequest(at: turn.now)
      apps[index].isRetryForUser = false
    }
    apps[index].change = nil
    noteOwnWrites(of: index, at: turn.now)
    turn.touch(index)
    learn(from: record, after: freshBefore, &turn)
    noteEnd(record, &turn)
    turn.decision.changes.apps.insert(id)
    turn.decision.changes.history.refreshes.append(record)
  }
}
