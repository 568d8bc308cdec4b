// Sleep: refreshes end before the machine sleeps; after the resume nothing deferrable starts until it has settled.

extension Engine {
  /// Until when the machine settles after boot or resume, boot clock; nil without either since the daemon began.
  var settlingUntil: Instant? { resumedAt.map { $0 + limits.settle } }

  /// Warns and stops running refreshes before the machine sleeps; nothing starts until the resume.
  mutating func suspend(until end: Instant, _ turn: inout Turn) {
    isSuspending = true
    transfers.isTouched = true
    turn.touched.insert(apps.indexes)
    for id in running.values.sorted() {
      guard let index = apps.index(of: id), var refreshing = apps[index].refreshing else { continue }
      let effect = refreshing.sleep(at: end, app: id, from: turn.now)
      keepOrEnd(index, refreshing, effect, &turn)
    }
  }

  /// Lets the machine settle, then spreads the backlog, the stalest app first.
  mutating func resume(_ turn: inout Turn) {
    resumedAt = turn.now
    isSuspending = false
    transfers.isTouched = true
    for id in running.values.sorted() {
      guard let index = apps.index(of: id), var refreshing = apps[index].refreshing else { continue }
      refreshing.stayAwake()
      apps[index].refreshing = refreshing
      turn.touch(index)
    }
    turn.touched.insert(held.all)
    hastenQuestions(at: turn.now)
    catchUp(&turn, byStaleness: true)
    turn.touched.insert(apps.indexes.filter { reportsStale(apps[$0]) != nil })
  }
}
