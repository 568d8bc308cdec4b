// The slots of running refreshes: a bound for all, and a bound for each user.

extension Engine {
  /// Whether the bound for all allows one more refresh.
  var hasSlot: Bool { limits.maxConcurrent.map { refreshingCount < $0 } ?? true }

  /// Whether a user's own bound allows one more refresh.
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

  /// Frees the slot of a refresh whose processes no signal ends; its app stays busy until they end.
  mutating func giveUpSlot(_ refreshing: Refreshing) {
    if stuck.insert(refreshing.started.id).inserted { openSlot(of: refreshing.owner) }
  }

  private mutating func openSlot(of user: UInt32) {
    let left = (runningOfUser[user] ?? 1) - 1
    runningOfUser[user] = left > 0 ? left : nil
    queue.open(user)
  }

  /// Queues an app for the next free slot, unless anything else holds it.
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
    apps[index].keepAnswers(entry != nil, at: now)
  }
}
