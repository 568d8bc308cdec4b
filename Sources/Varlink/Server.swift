import Glibc

/// Serves interfaces on Unix sockets, one event at a time, on the thread of its reactor.
///
/// All that it keeps for its clients is bounded (``Bounds``). Between two events it does nothing, and it sets no timer.
/// It lives until ``close()``, or until the last reference goes.
public final class Server {
  let reactor: any Reactor
  let bounds: Bounds
  let reader: CallReader
  /// Looks at the process of a client for what it may speak about; called before the first call of a connection.
  public var confine: ((pid_t, uid_t) -> CallerConfinement)?
  /// Runs at the end of a turn of a connection to which a long reply was sent whole: the heap may have much to give back.
  public var afterLongReply: (() -> Void)?
  var listeners: [Listener] = []
  let line: TurnLine
  private var accounts: UserAccounts
  private let tooManyWatches: any VarlinkError
  private var heard: UInt64 = 0

  /// A server that listens nowhere yet.
  ///
  /// `org.varlink.service` is added to the interfaces.
  ///
  /// - Parameter tooManyWatches: the answer to a call that is one watch too many for its user.
  public init(
    _ service: ServiceInfo, interfaces: [Interface], bounds: Bounds = Bounds(), reactor: any Reactor,
    tooManyWatches: any VarlinkError = PermissionDenied()
  ) {
    self.reactor = reactor
    self.bounds = bounds
    self.tooManyWatches = tooManyWatches
    (line, accounts) = (TurnLine(reactor), UserAccounts(bounds))
    reader = CallReader(methods: MethodTable(interfaces + [service.interface(besides: interfaces)]))
  }

  deinit {
    close()
  }

  /// How many clients are connected.
  public var connectionCount: Int { accounts.connectionCount }

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
    for connection in accounts.connections.sorted(by: { $0.lastHeard < $1.lastHeard }) { connection.end() }
    line.close()
  }

  // MARK: - Connections

  /// Takes a connected socket over, which is closed if it cannot be served.
  func admit(_ descriptor: Int32) {
    guard let peer = Peer(of: descriptor), make(accounts.room(for: peer.uid)) else {
      Glibc.close(descriptor)
      return
    }
    do {
      accounts.add(try Connection(descriptor: descriptor, peer: peer, server: self, heard: nextHeard()))
    } catch {
      // The reactor has no memory left for it. The client sees the end of the connection.
      Glibc.close(descriptor)
    }
  }

  func forget(_ connection: Connection) {
    let dropped = accounts.removeWaiting(of: connection)
    accounts.remove(connection)
    for work in dropped { work.call.drop() }
  }

  /// Has a connection that is idle give way after all others of its user that are.
  func noteSilent(_ connection: Connection) { accounts.noteSilent(connection) }

  /// Counts what a connection keeps here from now on, and breaks off what is too much.
  func count(_ change: Int, of connection: Connection) {
    accounts.count(change, of: connection)?.breakOff()
  }

  func nextHeard() -> UInt64 {
    heard += 1
    return heard
  }

  /// Ends a connection where the process has no descriptor for another; false if none can be ended.
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

  /// Runs a call.
  ///
  /// Work waits for the user's earlier work; a watch above the bound is refused.
  func begin(_ call: CallState, _ run: @escaping () -> Void) {
    let uid = call.connection.peer.uid
    if call.kind == .watch {
      guard accounts.addWatch(of: uid) else { return call.fail(tooManyWatches) }
      call.onEnd = { [weak self] in self?.accounts.endWatch(of: uid) }
    }
    guard call.kind.isWork else { return run() }
    guard accounts.begin((call, run)) else { return }
    endWork(of: uid, with: call)
    run()
  }

  /// Has the first answer of a call end its user's work, and the next begin.
  private func endWork(of uid: uid_t, with call: CallState) {
    call.onFirstAnswer = { [weak self] in
      guard let self, let next = accounts.endWork(of: uid) else { return }
      endWork(of: uid, with: next.call)
      next.call.connection.goOn(next.run)
    }
  }

  /// Whether a connection may take a call up now, and need not stand in line.
  func mayTakeAtOnce(_ connection: Connection) -> Bool {
    line.isEmpty && accounts.isModest(connection.peer.uid, at: monotonicNanoseconds())
  }

  /// Counts the time that a call took.
  func spent(since start: UInt64, on connection: Connection) {
    let now = monotonicNanoseconds()
    accounts.spend(now - start, of: connection.peer.uid, at: now)
  }
}
