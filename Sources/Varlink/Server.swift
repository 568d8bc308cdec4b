import Glibc

/// Serves interfaces on Unix sockets, one event at a time, on the thread of its reactor.
///
/// Bounded in all it keeps for its clients (``Bounds``); between two events it does nothing, and it sets no timer. Lives
/// until ``close()``, or until the last reference goes.
public final class Server {
  let reactor: any Reactor
  let bounds: Bounds
  let reader: CallReader
  let writer = ReplyWriter()
  var listeners: [Listener] = []
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var users: [uid_t: Use] = [:]
  private var heard: UInt64 = 0

  /// What one user's connections take.
  private struct Use {
    var connections = 0
    var waitingBytes = 0
  }

  /// A server that listens nowhere yet.
  ///
  /// `org.varlink.service` is added to the interfaces.
  public init(
    _ service: ServiceInfo, interfaces: [Interface], bounds: Bounds = Bounds(), reactor: any Reactor
  ) {
    self.reactor = reactor
    self.bounds = bounds
    reader = CallReader(methods: MethodTable(interfaces + [service.interface(besides: interfaces)]))
  }

  deinit {
    close()
  }

  /// How many clients are connected.
  public var connectionCount: Int { connections.count }

  /// Ends all listening; who is connected stays.
  ///
  /// Sockets that were bound here are removed from the file system.
  public func stopAccepting() {
    for listener in listeners { listener.close() }
    listeners = []
  }

  /// Ends all listening and all connections, and runs their disconnect actions.
  ///
  /// Answers not sent are lost.
  public func close() {
    stopAccepting()
    for connection in connections.values.sorted(by: { $0.lastHeard < $1.lastHeard }) { connection.end() }
  }

  // MARK: - Connections

  /// Takes a connected socket over, which is closed if it cannot be served.
  func admit(_ descriptor: Int32) {
    guard let peer = Peer(of: descriptor), makeRoom(for: peer) else {
      Glibc.close(descriptor)
      return
    }
    do {
      let connection = try Connection(descriptor: descriptor, peer: peer, server: self, heard: nextHeard())
      connections[ObjectIdentifier(connection)] = connection
      users[peer.uid, default: Use()].connections += 1
    } catch {
      // The reactor has no memory left for it. The client sees the end of the connection.
      Glibc.close(descriptor)
    }
  }

  /// Takes a connection out that has ended, with the bytes that were counted for it.
  func forget(_ connection: Connection, waiting bytes: Int) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    let uid = connection.peer.uid
    users[uid]?.connections -= 1
    users[uid]?.waitingBytes -= bytes
    if users[uid]?.connections == 0 { users[uid] = nil }
    for listener in listeners { listener.resume() }
  }

  /// Counts bytes that wait for a user, or no longer do; gives back how many wait now.
  func count(_ bytes: Int, for uid: uid_t) -> Int {
    users[uid, default: Use()].waitingBytes += bytes
    return users[uid, default: Use()].waitingBytes
  }

  func nextHeard() -> UInt64 {
    heard += 1
    return heard
  }

  /// Ends the connection that has been silent longest and holds nothing.
  ///
  /// False when there is none.
  func endIdlest(of uid: uid_t? = nil) -> Bool {
    let idle = connections.values.lazy.filter { $0.isIdle && (uid == nil || $0.peer.uid == uid) }
    guard let idlest = idle.min(by: { $0.lastHeard < $1.lastHeard }) else { return false }
    idlest.end()
    return true
  }

  private func makeRoom(for peer: Peer) -> Bool {
    if (users[peer.uid]?.connections ?? 0) >= bounds.connectionsPerUser {
      return endIdlest(of: peer.uid)
    }
    if connections.count >= bounds.connections {
      return endIdlest(of: peer.uid) || endIdlest()
    }
    return true
  }
}
