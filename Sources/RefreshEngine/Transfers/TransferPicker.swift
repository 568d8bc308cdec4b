/// Picks the transfers that get the next free slots.
///
/// The users take turns: the one with the fewest running is next, so that nobody is held off by another's long queue or
/// high priorities. Of one user the highest priority goes first; then the app with the fewest running; then the order of
/// the request.
struct TransferPicker {
  /// The transfers of an app with one server that may run.
  private struct Lane {
    let server: String
    /// The indices of its user and its app in the counts.
    let user: Int
    let app: Int
    var entries: ArraySlice<TransferQueue.Entry>
  }

  private var lanes: [Lane] = []
  private var slots: TransferSlots
  /// How many run of each user and of each app, by their indices.
  private var ofUser: [Int] = []
  private var ofApp: [Int] = []

  /// A picker for the transfers that nothing holds.
  ///
  /// - Parameters:
  ///   - owner: the user of an app.
  ///   - mayRun: whether nothing holds the transfers of a lane; asked once for each app and network.
  init(
    _ queue: TransferQueue, limits: TransferLimits, owner: (AppID) -> UInt32,
    mayRun: (TransferQueue.LaneKey) -> Bool
  ) {
    slots = TransferSlots(given: queue, limits: limits)
    guard slots.hasAny, !queue.lanes.isEmpty else { return }
    let given = queue.givenOfUser(owner)
    var (users, apps): ([UInt32: Int], [AppID: Int]) = ([:], [:])
    for (key, servers) in queue.lanes where mayRun(key) {
      let (user, app) = (users.index(of: owner(key.app)), apps.index(of: key.app))
      if user == ofUser.count { ofUser.append(given[owner(key.app)] ?? 0) }
      if app == ofApp.count { ofApp.append(queue.givenOfApp[key.app] ?? 0) }
      for (server, entries) in servers where slots.has(server) {
        lanes.append(Lane(server: server, user: user, app: app, entries: entries[...]))
      }
    }
  }

  /// Removes and returns the next transfer; nil when there is none, or no slot.
  mutating func next() -> TransferID? {
    guard slots.hasAny, let index = lanes.indices.min(by: isBefore), let first = lanes[index].entries.popFirst() else {
      return nil
    }
    let lane = lanes[index]
    guard slots.claim(with: lane.server) else { return nil }
    ofUser[lane.user] += 1
    ofApp[lane.app] += 1
    if lane.entries.isEmpty { lanes.remove(at: index) }
    if !slots.has(lane.server) { lanes.removeAll { $0.server == lane.server } }
    return first.id
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (left, right) = (lanes[left], lanes[right])
    if ofUser[left.user] != ofUser[right.user] { return ofUser[left.user] < ofUser[right.user] }
    guard let first = left.entries.first, let second = right.entries.first else { return false }
    if first.priority != second.priority { return first.priority > second.priority }
    return ofApp[left.app] != ofApp[right.app] ? ofApp[left.app] < ofApp[right.app] : first.id < second.id
  }
}

/// The free slots of transfers: so many in all, so many with each server.
struct TransferSlots {
  private var count: Int
  private var ofHost: [String: Int]
  private let limits: TransferLimits

  init(given queue: TransferQueue, limits: TransferLimits) {
    (count, ofHost) = (queue.movingCount, queue.givenOfHost)
    self.limits = limits
  }

  /// Whether one more may run, with whatever server.
  var hasAny: Bool { count < limits.maxConcurrent }

  /// Whether one more with a server may run.
  func has(_ server: String) -> Bool { hasAny && ofHost[server, default: 0] < limits.maxPerHost }

  /// Claims a slot; false if none is free.
  mutating func claim(with server: String) -> Bool {
    guard has(server) else { return false }
    count += 1
    ofHost[server, default: 0] += 1
    return true
  }

  /// Gives a slot back.
  mutating func giveBack(with server: String) {
    count -= 1
    ofHost[server, default: 0] -= 1
  }
}

extension TransferQueue {
  /// How many are under way to or from their servers of each user.
  func givenOfUser(_ owner: (AppID) -> UInt32) -> [UInt32: Int] {
    givenOfApp.reduce(into: [:]) { $0[owner($1.key), default: 0] += $1.value }
  }
}

extension Dictionary where Value == Int {
  /// The index of a key: the one that it has, or the next.
  fileprivate mutating func index(of key: Key) -> Int {
    if let known = self[key] { return known }
    let next = count
    self[key] = next
    return next
  }
}
