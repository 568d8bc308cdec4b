// The slots of running refreshes: so many in all, and so many for each user.

extension Engine {
  /// Whether one more refresh may run, as far as all of them go.
  var hasSlot: Bool { limits.maxConcurrent.map { refreshingCount < $0 } ?? true }

  /// Whether one more refresh of a user's apps may run, as far as those of the user go.
  func hasSlot(of user: UInt32) -> Bool {
    limits.maxConcurrentPerUser.map { runningOfUser[user, default: 0] < $0 } ?? true
  }

  mutating func occupySlot(_ refreshing: Refreshing, of id: AppID) {
    running[refreshing.started.id] = id
    runningOfUser[refreshing.owner, default: 0] += 1
  }

  mutating func freeSlot(_ refreshing: Refreshing) {
    running[refreshing.started.id] = nil
    if stuck.remove(refreshing.started.id) == nil { openSlot(of: refreshing.owner) }
  }

  /// Gives the slot of a refresh to others whose processes no signal ends; its app stays busy until they end.
  mutating func giveUpSlot(_ refreshing: Refreshing) {
    if stuck.insert(refreshing.started.id).inserted { openSlot(of: refreshing.owner) }
  }

  private mutating func openSlot(of user: UInt32) {
    let left = (runningOfUser[user] ?? 1) - 1
    runningOfUser[user] = left > 0 ? left : nil
    queue.open(user)
  }

  /// Queues an app for the next free slot, if nothing else keeps it.
  mutating func queueForSlot(_ index: AppIndex, at now: Instant) {
    var entry: StartQueue.Entry?
    switch verdict(on: index, at: now) {
    case .ready, .held([.concurrency]):
      let app = apps[index]
      if let policy = app.policy, let due = due(index, at: now) {
        entry = StartQueue.Entry(
          isBackground: app.phase != .foreground, latest: due.latest, index: index, user: policy.owner)
      }
    case .notDue, .held, .clear, .refreshing: break
    }
    queue.set(index, to: entry)
  }
}
