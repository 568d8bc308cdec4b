import CLinux
import Glibc
import Testing

@testable import Varlink

/// The connection that gives way to a newcomer where there is no room for all.
struct RoomTests {
  private let root: uid_t = 0
  private let anna: uid_t = 1001
  private let mallory: uid_t = 1002

  @Test func noIdleConnectionGivesWayToAUserWhoHasMore() throws {
    let stand = try Stand(bounds)
    try stand.connect(root)
    try stand.connect(anna)
    for _ in 1...3 { try stand.connect(mallory, isInUse: true) }
    #expect(stand.uid(for: mallory) == nil)
    #expect(stand.uid(for: anna) == anna)
    #expect(stand.uid(for: 1003) == mallory)
  }

  @Test func noConnectionOfRootGivesWayWhereNoDescriptorIsLeft() throws {
    let stand = try Stand(bounds)
    try stand.connect(root)
    try stand.connect(anna)
    for _ in 1...3 { try stand.connect(mallory, isInUse: true) }
    #expect(stand.uid(for: nil) == mallory)
  }

  @Test func noUserIsCutOffForALongAnswerToRoot() throws {
    var bounds = bounds
    bounds.bytes = 100
    let stand = try Stand(bounds)
    try stand.connect(root)
    try stand.connect(anna)
    try stand.connect(mallory)
    #expect(stand.uidCutOff(by: 1000, of: root) == nil)
    #expect(stand.uidCutOff(by: 1, of: anna) == nil)
    #expect(stand.uidCutOff(by: 99, of: mallory) == nil)
    #expect(stand.uidCutOff(by: 1, of: anna) == mallory)
  }

  @Test func theOneThatIsSilentLongestGivesWayAndNoneThatIsInUse() throws {
    var bounds = bounds
    bounds.connectionsPerUser = 3
    let stand = try Stand(bounds)
    for index in 1...3 { try stand.connect(mallory, isInUse: index == 1) }
    let all = stand.connections
    #expect(stand.connection(for: mallory) === all[1], "the first is in use")
    stand.hear(all[1])
    #expect(stand.connection(for: mallory) === all[2])
    all[2].onDisconnect {}
    #expect(stand.connection(for: mallory) === all[1])
    all[1].onDisconnect {}
    #expect(stand.connection(for: mallory) == nil)
    all[2].cancelDisconnectAction()
    stand.hear(all[2])
    #expect(stand.connection(for: mallory) === all[2])
  }

  @Test func aNewcomerCostsNoLookAtAllOthersOfItsUser() throws {
    func timeOfLooks(among count: Int) throws -> Duration {
      var bounds = bounds
      (bounds.connections, bounds.connectionsPerUser) = (2_000, count)
      let stand = try Stand(bounds)
      for _ in 1...count { try stand.connect(mallory) }
      // The least of several, because the machine may be busy.
      return (1...5).map { _ in
        ContinuousClock().measure { for _ in 1...2_000 { stand.hear(stand.connection(for: mallory)) } }
      }.min() ?? .zero
    }
    let (few, many) = (try timeOfLooks(among: 2), try timeOfLooks(among: 400))
    #expect(many < few * 20, "\(few), \(many)")
  }

  private var bounds: Bounds {
    var bounds = Bounds()
    (bounds.connections, bounds.reservedConnections, bounds.privileged) = (5, 0, [root])
    return bounds
  }

  /// Connections of several users, which no client uses.
  private final class Stand {
    private let stage: Stage
    private var accounts: UserAccounts
    private var ends: [Int32] = []

    init(_ bounds: Bounds) throws {
      stage = try Stage()
      accounts = UserAccounts(bounds)
    }

    deinit {
      for connection in accounts.connections { connection.end() }
      for end in ends { close(end) }
    }

    private(set) var connections: [Connection] = []

    /// A connection is heard.
    func hear(_ connection: Connection?) { if let connection { accounts.markSilent(connection) } }

    /// The connection that gives way to one more of a user; nil if none does.
    func connection(for user: uid_t) -> Connection? {
      if case .after(let connection) = accounts.room(for: user) { connection } else { nil }
    }

    func connect(_ uid: uid_t, isInUse: Bool = false) throws {
      var pair: [Int32] = [-1, -1]
      let made = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
      try #require(made == 0)
      ends.append(pair[1])
      let connection = try Connection(
        descriptor: pair[0], peer: Peer(pid: 1, uid: uid, gid: uid, groups: []), server: stage.server,
        heard: stage.server.nextHeard())
      if isInUse { connection.onDisconnect {} }
      accounts.add(connection)
      connections.append(connection)
    }

    /// The user whose connection ends because a user's keeps so many more bytes; nil if none does.
    func uidCutOff(by bytes: Int, of user: uid_t) -> uid_t? {
      guard let connection = accounts.users[user]?.connections.values.first else { return nil }
      return accounts.count(bytes, of: connection)?.peer.uid
    }

    /// The user whose connection gives way to one more of a user; nil if none does.
    func uid(for user: uid_t?) -> uid_t? {
      let room = user.map { accounts.room(for: $0) } ?? accounts.room(insteadOfOthersBy: user)
      return if case .after(let connection) = room { connection.peer.uid } else { nil }
    }
  }
}
