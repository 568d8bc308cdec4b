import Glibc

/// Serves interfaces on Unix sockets, one event at a time, on the thread of its reactor.
///
/// Bounded in all it keeps for its clients (``Bounds``); between two events it does nothing, and it sets no timer. Lives
/// until ``close()``, or until the last reference goes.
public final class Server {
  let reactor: any Reactor
  let bounds: Bounds
  let reader: CallReader
  /// Looks at the process of a client for what it may speak about; called before the first call of a connection.
  public var confine: ((pid_t, uid_t) -> CallerConfinement)?
  var listeners: [Listener] = []
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var users: [uid_t: User] = [:]
  private var heard: UInt64 = 0

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
      users[peer.uid, default: User()].connections += 1
    } catch {
      // The reactor has no memory left for it. The client sees the end of the connection.
      Glibc.close(descriptor)
    }
  }

  func forget(_ connection: Connection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    let uid = connection.peer.uid
    guard var user = users[uid] else { return }
    user.connections -= 1
    user.bytes -= connection.held
    users[uid] = user.connections == 0 ? nil : user
  }

  /// Counts what a connection keeps here from now on; false when that is too much for its user.
  func counts(_ change: Int, of connection: Connection) -> Bool {
    let total = (users[connection.peer.uid]?.bytes ?? 0) + change
    users[connection.peer.uid]?.bytes = total
    return change <= 0 || total <= bounds.bytesPerUser || total == connection.held
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
    if let user = users[peer.uid], user.connections >= bounds.connectionsPerUser {
      return endIdlest(of: peer.uid)
    }
    if connections.count >= bounds.connections {
      return endIdlest(of: peer.uid) || endIdlest()
    }
    return true
  }
}

/// The connections of one user, taken together.
private struct User {
  var connections = 0
  var bytes = 0
}
