import DequeModule
import Glibc

/// The share of each user in a server: connections, bytes, work, watches and time.
///
/// All bounds per user are kept here.
/// Belongs to the server's thread.
struct UserAccounts {
  /// A call that is work, and how it is begun.
  typealias Work = (call: CallState, run: () -> Void)

  /// The account of one user; shared, because each call changes it several times.
  final class Account {
    fileprivate(set) var connections: [ObjectIdentifier: Connection] = [:]
    /// The connections in the order in which they fell silent, so that no newcomer costs a look at all of them.
    ///
    /// An entry counts while it is the connection's last, and while the connection is idle.
    fileprivate var silent: Deque<(id: ObjectIdentifier, since: UInt64)> = []
    fileprivate(set) var bytes = 0
    fileprivate(set) var watches = 0
    /// Whether a call is under way that is work.
    fileprivate var isWorking = false
    /// The calls that wait for it.
    ///
    /// No slice: that keeps what was removed until it grows, and would then end calls in the middle of a change.
    fileprivate var waiting: Deque<Work> = []
    /// The time that calls took in the window of ``window``, in nanoseconds.
    fileprivate var spent: UInt64 = 0
    fileprivate var window: UInt64 = 0

    /// The connection of an entry that counts.
    fileprivate func idle(_ entry: (id: ObjectIdentifier, since: UInt64)) -> Connection? {
      connections[entry.id].flatMap { $0.silentSince == entry.since && $0.isIdle ? $0 : nil }
    }

    /// The connection that has been idle longest.
    fileprivate func findIdlest() -> Connection? {
      while let first = silent.first {
        if let connection = idle(first) { return connection }
        silent.removeFirst()
      }
      return nil
    }

    /// The connection that was used longest ago.
    fileprivate func findLeastUsed() -> Connection? {
      findIdlest() ?? connections.values.min { $0.lastHeard < $1.lastHeard }
    }

    fileprivate var isUnused: Bool { connections.isEmpty && watches == 0 && !isWorking && waiting.isEmpty }
  }

  private let bounds: Bounds
  private(set) var users: [uid_t: Account] = [:]
  private(set) var connectionCount = 0
  /// The bytes of all users but the privileged.
  private var bytes = 0
  private var lastSilence: UInt64 = 0

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// All connections.
  var connections: [Connection] { users.values.flatMap(\.connections.values) }

  // MARK: - Connections

  mutating func add(_ connection: Connection) {
    account(of: connection.peer.uid).connections[ObjectIdentifier(connection)] = connection
    connectionCount += 1
    noteSilent(connection)
  }

  /// Puts a connection last in the order in which its user's give way: it was heard, or has nothing more to do.
  mutating func noteSilent(_ connection: Connection) {
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

  /// The room for one more connection of a user.
  enum Room {
    case free
    /// This connection gives way first.
    case after(Connection)
    case none
  }

  /// Finds room for one more connection of a user.
  ///
  /// The user's own connections give way to it first. When all users together have too many, the user with the most
  /// gives one up, in use or not; ``Bounds/privileged`` users have some to themselves, and give up none for others.
  mutating func room(for uid: uid_t) -> Room {
    let own = users[uid]?.connections.count ?? 0
    if own >= bounds.connectionsPerUser { return users[uid]?.findIdlest().map(Room.after) ?? .none }
    let isPrivileged = bounds.privileged.contains(uid)
    let most = isPrivileged ? bounds.connections : bounds.connections - bounds.reservedConnections
    return connectionCount < most ? .free : room(insteadOfOthersBy: uid)
  }

  /// Finds room where there is none for all; the newcomer's user is unknown when the process has no descriptor left.
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
    // Nobody gives way to a user who has as many.
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

  /// Counts what a connection keeps from now on, and gives the connection that is to end if that is too much.
  ///
  /// A user's only connection that keeps anything may go beyond the user's bound: one long answer always gets through.
  mutating func count(_ change: Int, of connection: Connection) -> Connection? {
    let uid = connection.peer.uid
    // Nobody else gives way to a privileged user.
    if !bounds.privileged.contains(uid) { bytes += change }
    guard let account = users[uid] else { return nil }
    account.bytes += change
    guard change > 0 else { return nil }
    if account.bytes > bounds.bytesPerUser, account.bytes != connection.countedBytes { return connection }
    guard bytes > bounds.bytes else { return nil }
    return largest { $0.bytes }?.value.connections.values.max { $0.countedBytes < $1.countedBytes } ?? connection
  }

  // MARK: - Work

  /// Begins a call that is work; false if it waits until its user's other work is done.
  mutating func begin(_ work: Work) -> Bool {
    let account = account(of: work.call.connection.peer.uid)
    guard account.isWorking else {
      account.isWorking = true
      return true
    }
    account.waiting.append(work)
    return false
  }

  /// Ends the user's work; gives the next that waited, which is under way now.
  mutating func endWork(of uid: uid_t) -> Work? {
    if let next = users[uid]?.waiting.popFirst() { return next }
    users[uid]?.isWorking = false
    close(uid)
    return nil
  }

  /// Removes the calls that wait on a connection.
  ///
  /// The caller lets go of them, because the end of a call is counted here.
  mutating func removeWaiting(of connection: Connection) -> [Work] {
    guard let account = users[connection.peer.uid] else { return [] }
    let found = account.waiting.filter { $0.call.connection === connection }
    if !found.isEmpty { account.waiting.removeAll { $0.call.connection === connection } }
    return Array(found)
  }

  /// Counts one more watch; false if that is too much for its user.
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

  /// The spans in which time is counted, and how much of one a user may have before others go first, in nanoseconds.
  private static let span: UInt64 = 10_000_000
  private static let share: UInt64 = 1_000_000

  /// Whether a call of the user may be taken up before its turn, because the user has had little time.
  func isModest(_ uid: uid_t, at now: UInt64) -> Bool {
    guard let account = users[uid], account.window == now / Self.span else { return true }
    return account.spent < Self.share
  }

  /// Counts the time that a call took.
  mutating func spend(_ nanoseconds: UInt64, of uid: uid_t, at now: UInt64) {
    guard let account = users[uid] else { return }
    let window = now / Self.span
    if account.window != window { (account.window, account.spent) = (window, 0) }
    account.spent += nanoseconds
  }

  /// The account of a user, made where there is none.
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
