// The places of refreshes that run: so many in all, and so many of each user (FEATURES B8).

extension Engine {
  /// Whether one more refresh may run, as far as all of them go.
  var hasPlace: Bool { limits.maxConcurrent.map { running.count < $0 } ?? true }

  /// Whether one more refresh of a user's apps may run, as far as those of the user go.
  func hasPlace(of user: UInt32) -> Bool {
    limits.maxConcurrentPerUser.map { runningOfUser[user, default: 0] < $0 } ?? true
  }

  mutating func takePlace(_ refreshing: Refreshing, of id: AppID) {
    running[refreshing.started.id] = id
    runningOfUser[refreshing.owner, default: 0] += 1
  }

  mutating func leavePlace(_ refreshing: Refreshing) {
    running[refreshing.started.id] = nil
    let left = (runningOfUser[refreshing.owner] ?? 1) - 1
    runningOfUser[refreshing.owner] = left > 0 ? left : nil
    queue.open(refreshing.owner)
  }

  /// Puts an app among those that start as soon as there is a place, if nothing else keeps it.
  mutating func line(_ place: Place, at now: Instant) {
    var entry: Queue.Entry?
    switch verdict(on: place, at: now) {
    case .ready, .held([.concurrency]):
      let app = apps[place]
      if let policy = app.policy, let due = due(place, at: now) {
        entry = Queue.Entry(
          isBackground: app.phase != .foreground, latest: due.latest, place: place, user: policy.owner)
      }
    case .notDue, .held, .refreshing: break
    }
    queue.set(place, to: entry)
  }
}
