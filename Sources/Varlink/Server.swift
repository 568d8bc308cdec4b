import Glibc

/// Serves interfaces on Unix sockets, one event at a time, on the thread of its reactor.
///
/// ``Bounds`` limit everything that it keeps for clients. It works only on events, and sets no timer. It lives until
/// ``close()`` or until the last reference ends.
public final class Server {
  let reactor: any Reactor
  let bounds: Bounds
  let methods: MethodTable
  /// Decides what a client may act for, by its process; called before the first call of a connection.
  public var confine: ((CallerProcess) -> CallerConfinement)?
  /// Called after a turn in which a long reply was completely sent, because the heap may have much to release.
  public var afterLongReply: (() -> Void)?
  /// Called when most of many connections have ended, because the heap may have much to release.
  public var afterCrowd: (() -> Void)?
  /// The most connections since the last call of ``afterCrowd``.
  private var crowd = 0
  /// The fewest connections whose memory is worth a search of the heap.
  private static let leastCrowd = 64
  var listeners: [Listener] = []
  let line: TurnLine
  private var accounts: UserAccounts
  private var churners = Churners()
  private let tooManyWatches: any VarlinkError
  private var heard: UInt64 = 0

  /// Makes a server that listens nowhere yet.
  ///
  /// Adds `org.varlink.service` to the interfaces. `tooManyWatches` is the error for a watch beyond a user's bound.
  public init(
    _ service: ServiceInfo, interfaces: [Interface], bounds: Bounds = Bounds(), reactor: any Reactor,
    tooManyWatches: any VarlinkError = PermissionDenied()
  ) {
    self.reactor = reactor
    self.bounds = bounds
    self.tooManyWatches = tooManyWatches
    (line, accounts) = (TurnLine(reactor), UserAccounts(bounds))
    methods = MethodTable(interfaces + [service.interface(besides: interfaces)])
  }

  deinit {
    close()
  }

  /// The number of connected clients.
  public var connectionCount: Int { accounts.connectionCount }

  /// Stops listening; keeps the connections.
  ///
  /// Removes from the file system the sockets that this process has bound.
  public func stopAccepting() {
    for listener in listeners { listener.close() }
    listeners = []
  }

  /// Stops listening, closes all connections, and runs their disconnect actions.
  ///
  /// Unsent answers are lost.
  public func close() {
    stopAccepting()
    for connection in accounts.connections.sorted(by: { $0.lastHeard < $1.lastHeard }) { connection.end() }
    line.close()
  }

  // MARK: - Connections

  /// Takes ownership of a connected socket; closes it and returns false if it cannot be served.
  func admit(_ descriptor: Int32) -> Bool {
    guard !turnsAway(descriptor) else { return false }
    guard let peer = Peer(of: descriptor), make(accounts.room(for: peer.uid)) else {
      UnixSocket.turnAway(descriptor)
      return false
    }
    do {
      accounts.add(try Connection(descriptor: descriptor, peer: peer, server: self, heard: nextHeard()))
      crowd = max(crowd, connectionCount)
      return true
    } catch {
      // The reactor has no memory left. The client sees the end of the connection.
      UnixSocket.turnAway(descriptor)
      return false
    }
  }

  /// Closes a newcomer that has left again, before it costs what a connection does, if its user connects too often.
  ///
  /// All users share the queue of clients that wait for accept(2). A user who fills it faster than the server serves would
  /// make the others wait.
  private func turnsAway(_ descriptor: Int32) -> Bool {
    guard let uid = Peer.user(of: descriptor), churners.count(uid, at: monotonicNanoseconds()),
      UnixSocket.isHungUp(descriptor)
    else { return false }
    UnixSocket.turnAway(descriptor, hasLeft: true)
    return true
  }

  func forget(_ connection: Connection) {
    let dropped = accounts.removeWaiting(of: connection)
    accounts.remove(connection)
    for work in dropped { work.call.drop() }
    guard crowd >= Self.leastCrowd, connectionCount <= crowd / 4 else { return }
    crowd = connectionCount
    afterCrowd?()
  }

  /// Puts an idle connection last among its user's connections that may be closed for room.
  func markSilent(_ connection: Connection) { accounts.markSilent(connection) }

  /// Counts the bytes that the server keeps for a connection, and closes a connection beyond a bound.
  func count(_ change: Int, of connection: Connection) {
    accounts.count(change, of: connection)?.breakOff()
  }

  func nextHeard() -> UInt64 {
    heard += 1
    return heard
  }

  /// Closes a connection when the process has no descriptor left; returns false if none can be closed.
  func makeRoom() -> Bool { make(accounts.room(insteadOfOthersBy: nil)) }

  private func make(_ room: UserAccounts.Room) -> Bool {
    switch room {
    case .free: return true
    case .none: return false
    case .after(let connection):
      connection.end()
      return true
    }
  }

  // MARK: - Calls

  /// Runs the handler of a call, now or after the user's earlier work; refuses a watch beyond the bound.
  func run(_ call: CallState, _ handler: @escaping () -> Void) {
    let uid = call.connection.peer.uid
    if call.kind == .watch {
      guard accounts.addWatch(of: uid) else { return call.fail(tooManyWatches) }
      call.onEnd = { [weak self] in self?.accounts.endWatch(of: uid) }
    }
    guard call.kind.isWork else { return handler() }
    guard accounts.begin((call, handler)) else { return }
    endWork(of: uid, with: call)
    handler()
  }

  /// Makes the first answer of a call end its user's work and start the next.
  private func endWork(of uid: uid_t, with call: CallState) {
    call.onFirstAnswer = { [weak self] in
      guard let self, let next = accounts.endWork(of: uid) else { return }
      endWork(of: uid, with: next.call)
      next.call.connection.goOn(next.run)
    }
  }

  /// Whether a connection may handle a call now, without waiting in line.
  func mayRunAtOnce(_ connection: Connection) -> Bool {
    line.isEmpty && accounts.isModest(connection.peer.uid, at: monotonicNanoseconds())
  }

  /// Counts the time of a call.
  func spent(since start: UInt64, on connection: Connection) {
    let now = monotonicNanoseconds()
    accounts.spend(now - start, of: connection.peer.uid, at: now)
  }
}
