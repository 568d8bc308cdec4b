import DequeModule
import Glibc

/// The share of each user in a server: connections, bytes, work, watches and time.
///
/// Keeps all bounds per user. Belongs to the server's thread.
struct UserAccounts {
  /// A call that counts as work, and the function that runs it.
  typealias Work = (call: CallState, run: () -> Void)

  /// The account of a user; a class, because each call changes it several times.
  final class Account {
    fileprivate(set) var connections: [ObjectIdentifier: Connection] = [:]
    /// The connections in the order in which they fell silent, so that a newcomer need not examine all of them.
    ///
    /// An entry counts while it is the last entry of its connection and the connection is idle.
    fileprivate var silent: Deque<(id: ObjectIdentifier, since: UInt64)> = []
    fileprivate(set) var bytes = 0
    fileprivate(set) var watches = 0
    /// Whether a call that counts as work is under way.
    fileprivate var isWorking = false
    /// The calls that wait for that work.
    ///
    /// Not a slice, because a slice keeps removed elements until it grows. It would then end calls in the middle of a change.
    fileprivate var waiting: Deque<Work> = []
    /// The time of the calls in the current ``window``, in nanoseconds.
    fileprivate var spent: UInt64 = 0
    fileprivate var window: UInt64 = 0

    /// The connection of an entry; nil if the entry no longer counts.
    fileprivate func idle(_ entry: (id: ObjectIdentifier, since: UInt64)) -> Connection? {
      connections[entry.id].flatMap { $0.silentSince == entry.since && $0.isIdle ? $0 : nil }
    }

    /// Finds the connection that has been idle longest.
    fileprivate func findIdlest() -> Connection? {
      while let first = silent.first {
        if let connection = idle(first) { return connection }
        silent.removeFirst()
      }
      return nil
    }

    /// Finds the connection that was used least recently.
    fileprivate func findLeastUsed() -> Connection? {
      findIdlest() ?? connections.values.min { $0.lastHeard < $1.lastHeard }
    }

    fileprivate var isUnused: Bool { connections.isEmpty && watches == 0 && !isWorking && waiting.isEmpty }
  }

  private let bounds: Bounds
  private(set) var users: [uid_t: Account] = [:]
  private(set) var connectionCount = 0
  /// The kept bytes of all users except the privileged.
  private var bytes = 0
  private var lastSilence: UInt64 = 0

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// All connections.
  var connections: [Connection] { users.values.flatMap(\.connections.values) }

  // MARK: - Connections

  mutating func add(_ connection: Connection) {
    account(of: connection.peer.uid).connections[ObjectIdentifier(connection)] = connection
    connectionCount += 1
    markSilent(connection)
  }

  /// Puts a connection last among its user's idle connections, because it has sent something or its work has ended.
  mutating func markSilent(_ connection: Connection) {
    let id = ObjectIdentifier(connection)
    guard connection.isIdle, let account = users[connection.peer.uid], account.connections[id] != nil else { return }
    lastSilence += 1
    connection.silentSince = lastSilence
    account.silent.append((id, lastSilence))
    guard account.silent.count > 2 * account.connections.count + 16 else { return }
    account.silent.removeAll { account.idle($0) == nil }
  }

  mutating func remove(_ connection: Connection) {
    let uid = connection.peer.uid
    guard let account = users[uid], account.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
      return
    }
    connectionCount -= 1
    if !bounds.privileged.contains(uid) { bytes -= connection.countedBytes }
    account.bytes -= connection.countedBytes
    close(uid)
  }

  /// The result of a search for room for a connection.
  enum Room {
    case free
    /// There is room after this connection is closed.
    case after(Connection)
    case none
  }

  /// Finds room for a new connection of a user.
  ///
  /// At the user's bound, the user's longest idle connection is closed. At the bound for all, it is an idle connection of
  /// the same user, or else one of the user with the most. ``Bounds/privileged`` users have reserved room, and lose no
  /// connection to other users.
  mutating func room(for uid: uid_t) -> Room {
    let own = users[uid]?.connections.count ?? 0
    if own >= bounds.connectionsPerUser { return users[uid]?.findIdlest().map(Room.after) ?? .none }
    let isPrivileged = bounds.privileged.contains(uid)
    let most = isPrivileged ? bounds.connections : bounds.connections - bounds.reservedConnections
    return connectionCount < most ? .free : room(insteadOfOthersBy: uid)
  }

  /// Finds room at the bound for all; the newcomer's user is unknown if the process has no descriptor left.
  mutating func room(insteadOfOthersBy uid: uid_t?) -> Room {
    if let uid, let idle = users[uid]?.findIdlest() { return .after(idle) }
    let own = uid.flatMap { users[$0]?.connections.count } ?? 0
    let isFirst = uid.map(bounds.privileged.contains) ?? true
    if let (largest, account) = largest(by: { $0.connections.count }),
      account.connections.count > (isFirst ? 0 : own + 1)
    {
      return users[largest]?.findLeastUsed().map(Room.after) ?? .none
    }
    if isFirst { return idlest(of: Array(users.keys)).map(Room.after) ?? .none }
    // Only a user with more connections loses one.
    let larger = users.filter { !bounds.privileged.contains($0.key) && $0.value.connections.count > own }
    return idlest(of: Array(larger.keys)).map(Room.after) ?? .none
  }

  private func largest(by size: (Account) -> Int) -> (key: uid_t, value: Account)? {
    users.lazy.filter { !bounds.privileged.contains($0.key) }.max {
      (size($0.value), $0.key) < (size($1.value), $1.key)
    }
  }

  /// The connection of these users that has been idle longest.
  private mutating func idlest(of uids: [uid_t]) -> Connection? {
    var found: [Connection] = []
    for uid in uids { if let idlest = users[uid]?.findIdlest() { found.append(idlest) } }
    return found.min { $0.silentSince < $1.silentSince }
  }

  // MARK: - Bytes

  /// Counts the bytes that a connection keeps, and returns the connection to close if a bound is exceeded.
  ///
  /// The only connection of a user that keeps bytes may exceed the user's bound: one long answer always gets through.
  mutating func count(_ change: Int, of connection: Connection) -> Connection? {
    let uid = connection.peer.uid
    // The bytes of a privileged user never cost another user a connection.
    if !bounds.privileged.contains(uid) { bytes += change }
    guard let account = users[uid] else { return nil }
    account.bytes += change
    guard change > 0 else { return nil }
    if account.bytes > bounds.bytesPerUser, account.bytes != connection.countedBytes { return connection }
    guard bytes > bounds.bytes else { return nil }
    return largest { $0.bytes }?.value.connections.values.max { $0.countedBytes < $1.countedBytes } ?? connection
  }

  // MARK: - Work

  /// Starts a call that counts as work; returns false if it waits for the user's earlier work.
  mutating func begin(_ work: Work) -> Bool {
    let account = account(of: work.call.connection.peer.uid)
    guard account.isWorking else {
      account.isWorking = true
      return true
    }
    account.waiting.append(work)
    return false
  }

  /// Ends the user's work; returns the next waiting call, which is now under way.
  mutating func endWork(of uid: uid_t) -> Work? {
    if let next = users[uid]?.waiting.popFirst() { return next }
    users[uid]?.isWorking = false
    close(uid)
    return nil
  }

  /// Removes the waiting calls of a connection.
  ///
  /// Returns the calls, because their release ends them, and that end is counted here.
  mutating func removeWaiting(of connection: Connection) -> [Work] {
    guard let account = users[connection.peer.uid] else { return [] }
    let found = account.waiting.filter { $0.call.connection === connection }
    if !found.isEmpty { account.waiting.removeAll { $0.call.connection === connection } }
    return Array(found)
  }

  /// Counts a new watch; returns false at the user's bound.
  mutating func addWatch(of uid: uid_t) -> Bool {
    let account = account(of: uid)
    guard account.watches < bounds.watchesPerUser else { return false }
    account.watches += 1
    return true
  }

  mutating func endWatch(of uid: uid_t) {
    users[uid]?.watches -= 1
    close(uid)
  }

  // MARK: - Time

  /// The length of a window in which time is counted, and the share of a user that still goes first, in nanoseconds.
  private static let span: UInt64 = 10_000_000
  private static let share: UInt64 = 1_000_000

  /// Whether a call of the user may run before its turn, because the user has used little time.
  func isModest(_ uid: uid_t, at now: UInt64) -> Bool {
    guard let account = users[uid], account.window == now / Self.span else { return true }
    return account.spent < Self.share
  }

  /// Counts the time of a call.
  mutating func spend(_ nanoseconds: UInt64, of uid: uid_t, at now: UInt64) {
    guard let account = users[uid] else { return }
    let window = now / Self.span
    if account.window != window { (account.window, account.spent) = (window, 0) }
    account.spent += nanoseconds
  }

  /// The account of a user; makes one if there is none.
  private mutating func account(of uid: uid_t) -> Account {
    if let account = users[uid] { return account }
    let account = Account()
    users[uid] = account
    return account
  }

  private mutating func close(_ uid: uid_t) {
    if users[uid]?.isUnused == true { users[uid] = nil }
  }
}

/// Finds the users who connect more often than a server can serve.
///
/// Belongs to the server's thread. Keeps a number for each user who has connected in this second.
struct Churners {
  private var arrivals: [uid_t: Int] = [:]
  private var second: UInt64 = 0

  /// The most connections of a user in a second; a user with more is a churner.
  ///
  /// Far above what people and scripts do. Oneway calls that come at once, each on a connection of its own, are fewer.
  private static let most = 512

  /// Counts a newcomer; returns whether its user connects too often.
  ///
  /// A user who churned in one second begins the next with half of that count, so that a flood does not begin each second
  /// with as many connections that are served.
  mutating func count(_ uid: uid_t, at nanoseconds: UInt64) -> Bool {
    let now = nanoseconds / 1_000_000_000
    if now != second {
      arrivals =
        now == second + 1 ? arrivals.filter { $0.value > Self.most }.mapValues { min($0 / 2, 4 * Self.most) } : [:]
      second = now
    }
    arrivals[uid, default: 0] += 1
    return arrivals[uid, default: 0] > Self.most
  }
}
