import RefreshAPI
import Varlink

/// An app's connection to refreshd, which keeps its data fresh (DESIGN section 4).
///
///     let client = try await RefreshClient.connect(app: "org.example.todo")
///     await client.onRefresh { context in
///       let news = try await todo.sync()
///       return news.isEmpty ? .noData : .newData("\(news.count) new items")
///     }
///     try await client.withForeground { try await window.run() }
///
/// While it is connected the app counts as `launched`. If the daemon goes away, the client connects anew for as long as
/// it lives, ever more seldom, 30 s apart at most; the handler and the leases are then what they were. Meanwhile the app
/// goes on: only ``setMinimumBackgroundInterval(_:)`` needs the daemon at once.
///
/// A client has one thread, which sleeps while nothing happens and ends with the last reference to the client. A lease
/// is such a reference until its end, and a handler that uses the client until ``close()``.
public actor RefreshClient {
  /// What an app does to refresh itself.
  ///
  /// Runs in a task of its own, which is cancelled at the deadline, and when the daemon stops the refresh sooner or goes
  /// away, as it does for a moment when it is restarted; never twice at once. What it throws is a failure with the error's description in `refreshctl history`;
  /// ``RetryLater`` is one that is worth a retry.
  public typealias Handler = @Sendable (RefreshContext) async throws -> RefreshResult

  /// The id of the app, in reverse-DNS form.
  public nonisolated let app: String

  let loop: PollLoop
  let subscribers = Subscribers()
  let socketName: String?
  var socket: SocketPath
  var link = Link()
  /// Why the link broke last.
  var failure = RefreshError.closed
  var streams: [Stream: OpenStream] = [:]
  /// The phase of the app, by the last answer that told it.
  var phase = RefreshPhase.background
  var calls: [Int32: PendingCall] = [:]
  var serving = Serving()
  var handler: Handler?
  var handling: Handling?
  var foregroundLeases = ForegroundLeases()

  /// The client's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init(app: String, socket: String?, loop: PollLoop) {
    self.app = app
    self.loop = loop
    socketName = socket
    self.socket = SocketPath.find(named: socket)
  }

  deinit {
    handling?.task.cancel()
    subscribers.finish()
    loop.end()
  }

  /// Connects to the daemon and tells it that the app has a process.
  ///
  /// Throws when there is no daemon (`noDaemon`), when it does not know the app (`noSuchApp`), when this user may not
  /// speak for the app (`notAllowed`), when there is no answer for 5 s (`disconnected`) or one that this library cannot
  /// read (`incompatible`), or when the process has no descriptor left (`noResources`). An app that is to run on machines
  /// without refreshd as well sets `keepsTrying`: then nothing of this is thrown, and ``events`` tells it. Only where
  /// there is no descriptor or thread for the client itself, `noResources` is thrown all the same.
  ///
  /// - Parameters:
  ///   - app: The id of the app in reverse-DNS form, as in its file below `apps.d`.
  ///   - socket: The daemon's socket; if nil, `$REFRESH_SOCKET`, else that of the user's daemon if it is there, else
  ///     that of the system's.
  ///   - keepsTrying: Whether to connect as soon as the daemon is there, if it is not there now.
  public static func connect(
    app: String, socket: String? = nil, keepsTrying: Bool = false
  ) async throws(RefreshError) -> RefreshClient {
    let client = RefreshClient(app: app, socket: socket, loop: try PollLoop())
    try await client.begin(keepsTrying: keepsTrying)
    return client
  }

  /// Has the app refresh itself from now on, in the place of the commands in its file.
  ///
  /// When this returns, the daemon hands refreshes to this process, if it is there. Of several processes of one app the
  /// first one is handed all of them, and the next one takes over when that one ends. A second handler takes the place
  /// of the first, from the next refresh on. A handler that has not returned yet from a refresh that was lost with the
  /// connection is waited for before the daemon hands out anything to this process. After ``close()`` nothing happens.
  public func onRefresh(_ handler: @escaping Handler) async {
    guard link.state != .closed else { return }
    self.handler = handler
    extend()
    await answer(to: .attach)
  }

  /// Sets the least time between two refreshes in the background, in place of the one in the app's file.
  ///
  /// It is kept, also across restarts, until it is set anew; an answer means that it is on the disk. Throws `badInterval`
  /// for what is shorter than the daemon allows, `notStored` when the daemon cannot write, and as
  /// ``connect(app:socket:keepsTrying:)`` when the daemon is not there. `refreshctl reset` takes it back.
  public func setMinimumBackgroundInterval(_ interval: RefreshInterval) async throws(RefreshError) {
    if case .closed = link.state { throw .closed }
    do throws(CallFailure) {
      _ = try await call(ManagerInterface.Set.self, .init(apps: [app], backgroundInterval: interval.text))
    } catch {
      throw RefreshError(error, at: socket)
    }
  }

  /// What happens to the app from now on; the first event says how the client stands.
  ///
  /// Each use is a sequence of its own, which ends when the client is closed. A reader that falls a hundred events
  /// behind loses the oldest.
  public nonisolated var events: AsyncStream<RefreshEvent> { subscribers.subscribe() }

  /// Ends all leases and the attachment, for good.
  ///
  /// A handler at work is cancelled, and its refresh has failed.
  public func close() {
    step(.closed)
    // It may hold the client.
    handler = nil
    subscribers.finish()
  }

  // MARK: - The foreground

  /// Tells the daemon that the user looks at the app for as long as `body` runs.
  ///
  /// The app is then refreshed at once if its data is older than the foreground interval, and each such interval from
  /// then on. `body` does not wait for the daemon, and runs without one as well. Several may run at once: the app is in
  /// the foreground until the last one ends.
  public func withForeground<Result, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let lease = await foreground()
    defer { lease.end() }
    return try await body()
  }

  /// Tells the daemon that the user looks at the app, until ``ForegroundLease/end()``.
  ///
  /// For a window that is told when it gets and loses the focus; else use ``withForeground(isolation:_:)``. What the
  /// daemon does not take, or what there is no descriptor for, is tried again, 30 s apart at most. After ``close()``
  /// the lease holds nothing.
  public func foreground() -> ForegroundLease {
    guard link.state != .closed else { return ForegroundLease(of: nil) }
    foregroundLeases.count += 1
    settleForeground()
    return ForegroundLease(of: self)
  }

  func leaveForeground() {
    foregroundLeases.count -= 1
    settleForeground()
  }

  /// The streams that make a client a connected one.
  var wanted: [Stream] {
    // An attachment is a lease of `launched` and tells what happens, too.
    handler == nil || serving.isOccupied ? [.lease(.launched), .watch] : [.attach]
  }
}
