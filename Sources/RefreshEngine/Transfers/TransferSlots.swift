/// Picks the transfers that get the next free slots.
///
/// The users take turns: the user with the fewest running transfers is next, so that no user's queue or priorities delay
/// the others. A user's highest priority goes first, then the app with the fewest running transfers, then the order of the
/// requests.
struct TransferPicker {
  /// The transfers of an app to or from one server that may run.
  private struct Lane {
    let server: String
    /// The indices of its user and its app in the counts.
    let user: Int
    let app: Int
    var entries: ArraySlice<TransferQueue.Entry>
  }

  private var lanes: [Lane] = []
  private var slots: TransferSlots
  /// How many transfers of each user and of each app run, by their indices.
  private var ofUser: [Int] = []
  private var ofApp: [Int] = []

  /// Makes a picker of the transfers that nothing holds.
  ///
  /// `owner` gives the user of an app. `mayRun` says whether nothing holds the transfers of a lane; it is called once
  /// for each app and network.
  init(
    _ queue: TransferQueue, limits: TransferLimits, owner: (AppID) -> UInt32,
    mayRun: (TransferQueue.LaneKey) -> Bool
  ) {
    slots = TransferSlots(given: queue, limits: limits)
    guard slots.mayHaveAny, !queue.lanes.isEmpty else { return }
    let given = queue.givenOfUser(owner)
    var (users, apps): ([UInt32: Int], [AppID: Int]) = ([:], [:])
    for (key, servers) in queue.lanes where mayRun(key) {
      let (user, app) = (users.index(of: owner(key.app)), apps.index(of: key.app))
      if user == ofUser.count { ofUser.append(given[owner(key.app)] ?? 0) }
      if app == ofApp.count { ofApp.append(queue.givenOfApp[key.app] ?? 0) }
      for (server, entries) in servers where slots.has(server, isFirst: ofUser[user] == 0) {
        lanes.append(Lane(server: server, user: user, app: app, entries: entries[...]))
      }
    }
  }

  /// Removes and returns the next transfer; nil without a transfer or a slot.
  mutating func next() -> TransferID? {
    guard let index = lanes.indices.min(by: isBefore), let first = lanes[index].entries.popFirst() else { return nil }
    let lane = lanes[index]
    slots.claim(with: lane.server)
    ofUser[lane.user] += 1
    ofApp[lane.app] += 1
    lanes.removeAll { $0.entries.isEmpty || !slots.has($0.server, isFirst: ofUser[$0.user] == 0) }
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

/// The free slots of transfers: a bound for all, and a bound for each server.
///
/// The first transfer of a user may have one slot more, in all and with its server, so that no user takes the last one.
struct TransferSlots {
  private var count: Int
  private var ofHost: [String: Int]
  private let limits: TransferLimits

  init(given queue: TransferQueue, limits: TransferLimits) {
    (count, ofHost) = (queue.movingCount, queue.givenOfHost)
    self.limits = limits
  }

  /// Whether one more transfer may run, if it is the first of its user.
  var mayHaveAny: Bool { count <= limits.maxConcurrent }

  /// Whether one more transfer with a server may run.
  ///
  /// A user who has no other transfer on the way (`isFirst`) may take one more slot than the bounds allow.
  func has(_ server: String, isFirst: Bool) -> Bool {
    let more = isFirst ? 1 : 0
    return count < limits.maxConcurrent + more && ofHost[server, default: 0] < limits.maxPerHost + more
  }

  /// Claims a slot.
  mutating func claim(with server: String) {
    count += 1
    ofHost[server, default: 0] += 1
  }

  /// Frees a slot, and the one beyond the bound if it was taken.
  mutating func release(with server: String) {
    count = min(count, limits.maxConcurrent) - 1
    ofHost[server] = min(ofHost[server, default: 0], limits.maxPerHost) - 1
  }
}

extension TransferQueue {
  /// How many transfers of each user are on the way to or from their servers.
  func givenOfUser(_ owner: (AppID) -> UInt32) -> [UInt32: Int] {
    givenOfApp.reduce(into: [:]) { $0[owner($1.key), default: 0] += $1.value }
  }
}

extension Dictionary where Value == Int {
  /// The index of a key: its index, or the next free index.
  fileprivate mutating func index(of key: Key) -> Int {
    if let known = self[key] { return known }
    let next = count
    self[key] = next
    return next
  }
}

// Turns of running transfers: no user keeps a slot for ever while another waits for it.

/// The progress of a transfer that has a slot.
struct TransferPace: Sendable {
  /// The bytes that a transfer must move within ``patience`` to keep its slot: 1 KiB a second on average.
  static let worthASlot: Int64 = 30 * 1024
  static let patience = Duration.seconds(30)
  /// How long a transfer may run while a user with fewer slots waits.
  static let turn = Duration.minutes(5)
  /// How long a transfer may run while a user without a slot waits.
  static let turnBesideNone = Duration.minutes(1)
  /// How long a transfer that gave way leaves its slot to others.
  static let rest = Duration.minutes(1)

  /// When it got the slot.
  let began: Instant
  /// When it last made progress.
  private(set) var gotOnAt: Instant
  /// How many bytes were moved then; nil before the first report.
  private var bytes: Int64?

  init(at now: Instant) { (began, gotOnAt) = (now, now) }

  /// Updates how many bytes are moved.
  mutating func update(_ bytes: Int64, at now: Instant) {
    guard let before = self.bytes, bytes >= before else { return self.bytes = bytes }
    guard bytes - before >= Self.worthASlot else { return }
    (self.bytes, gotOnAt) = (bytes, now)
  }
}

/// The bandwidth bound of all transfers, shared among the workers.
public enum Bandwidth {
  /// The equal share of each worker with work, in bytes a second and at least 1; nil without a bound.
  public static func share(of bound: Int64?, among workers: Int) -> Int64? {
    bound.map { max(1, $0 / Int64(max(1, workers))) }
  }
}
