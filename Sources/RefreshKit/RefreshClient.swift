import RefreshAPI

/// An app's connection to refreshd, which refreshes the app's data in the background.
///
///     let client = try await RefreshClient.connect(app: "org.example.todo")
///     await client.onRefresh { context in
///       let news = try await todo.sync()
///       return news.isEmpty ? .noData : .newData("\(news.count) new items")
///     }
///     try await client.withForeground { try await window.run() }
///
/// The daemon considers a connected app to be `launched`. If the daemon goes away, the client reconnects with an
/// increasing delay of at most 30 s, and restores the handler and the leases. Meanwhile all methods but
/// ``setBackgroundInterval(_:)`` work without the daemon.
///
/// A client has one thread, which sleeps while nothing happens. The thread ends with the last reference to the client.
/// A ``ForegroundLease`` holds a reference until it ends, and a handler that uses the client holds one until
/// ``close()``.
public actor RefreshClient {
  /// A closure that refreshes the app's data.
  ///
  /// The client runs one handler at a time, in a task of its own. The task is cancelled at the deadline, when the
  /// daemon stops the refresh sooner, and when the connection to the daemon ends, for example while the daemon
  /// restarts. An error that the handler throws fails the refresh, and `refreshctl history` shows its description.
  /// Throw ``RetryLater`` to ask for a retry.
  public typealias Handler = @Sendable (RefreshContext) async throws -> RefreshResult

  /// The id of the app, in reverse-DNS form.
  public nonisolated let app: String

  let loop: PollLoop
  let subscribers = Subscribers()
  let socketName: String?
  var socket: SocketPath
  /// The answer of the user's own daemon, if it does not know the app and the system's daemon is asked.
  var unknownToUsersDaemon: RefreshError?
  var link = Link()
  /// The error that ended the last connection.
  var failure = RefreshError.closed
  var streams: [Stream: OpenStream] = [:]
  /// Counts the callers that have waited for a stream.
  var waiters: UInt64 = 0
  /// The phase of the app by the daemon's last message.
  var phase = RefreshPhase.background
  var calls: [Int32: PendingCall] = [:]
  var serving = Serving()
  var handler: Handler?
  var runningHandler: RunningHandler?
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
    runningHandler?.task.cancel()
    subscribers.finish()
    loop.end()
  }

  /// Connects to the daemon and registers this process as the app.
  ///
  /// A failed attempt throws one of these errors:
  ///
  /// - `noDaemon`: No daemon listens on the socket.
  /// - `noSuchApp`: The daemon's configuration has no file for the app.
  /// - `notAllowed`: This user may not act for the app.
  /// - `disconnected`: The daemon did not reply within 5 s.
  /// - `incompatible`: This library cannot read the daemon's reply.
  /// - `noResources`: The process has no descriptor or thread left.
  /// - `cancelled`: The task was cancelled while it waited for the reply.
  ///
  /// Set `keepsTrying` in an app that must also run on machines without refreshd. The method then throws only
  /// `noResources`, if it cannot make the client itself, and `cancelled`. ``events`` reports every other failure, and
  /// the client keeps trying.
  ///
  /// - Parameters:
  ///   - app: The id of the app in reverse-DNS form, as in its file below `apps.d`.
  ///   - socket: The daemon's socket. The default is `$REFRESH_SOCKET`, else the socket of the user's daemon if it
  ///     exists and that daemon knows the app, else the system's daemon.
  ///   - keepsTrying: Whether to retry in the background if the first attempt fails.
  /// - Returns: The client. With `keepsTrying`, it may not be connected yet.
  /// - Throws: One of the errors above.
  public static func connect(
    app: String, socket: String? = nil, keepsTrying: Bool = false
  ) async throws(RefreshError) -> RefreshClient {
    let client = RefreshClient(app: app, socket: socket, loop: try PollLoop())
    try await client.begin(keepsTrying: keepsTrying)
    return client
  }

  /// Sets the handler that refreshes the app, in place of the commands in the app's file.
  ///
  /// When this returns, the daemon sends refreshes to this process, unless there is no connection. If several processes
  /// of an app have a handler, the first one receives all refreshes, and the next one takes over when it ends.
  ///
  /// A second call replaces the handler from the next refresh on. If a handler is still at work on a refresh that a
  /// lost connection has ended, the process receives no refresh until that handler returns. After ``close()`` this does
  /// nothing.
  public func onRefresh(_ handler: @escaping Handler) async {
    guard link.state != .closed else { return }
    self.handler = handler
    extend()
    await answer(to: .attach)
  }

  /// Sets when the app is refreshed in the background, in place of the interval in its file.
  ///
  /// The daemon has saved the interval when this returns. It stays in force, also across restarts, until you set
  /// another one or the user runs `refreshctl reset`.
  ///
  /// The interval is the person's, so a sandboxed app and a task may not set it: `notAllowed`.
  ///
  /// Throws `badInterval` if the interval is shorter than the daemon allows, `notStored` if the daemon cannot save it,
  /// and the errors of ``connect(app:socket:keepsTrying:)`` if the daemon cannot be reached.
  public func setBackgroundInterval(_ interval: RefreshInterval) async throws(RefreshError) {
    if case .closed = link.state { throw .closed }
    do throws(CallFailure) {
      _ = try await call(
        ManagerInterface.Set.self, .init(apps: [app], backgroundInterval: interval.text),
        within: ReconnectBackOff.storingPatience)
    } catch {
      throw RefreshError(error, at: socket)
    }
  }

  /// Reports a sync that the app has made by itself, outside of its handler.
  ///
  /// It counts as a refresh: the next one comes after another interval, and the daemon learns from it how often there is
  /// new data. It throws the errors of ``connect(app:socket:keepsTrying:)`` if the daemon cannot be reached; the sync
  /// is not counted then.
  public func reportSync(newData: Bool) async throws(RefreshError) {
    if case .closed = link.state { throw .closed }
    do throws(CallFailure) {
      _ = try await call(AppInterface.Synced.self, .init(app: app, newData: newData))
    } catch {
      throw RefreshError(error, at: socket)
    }
  }

  /// The events of the app, beginning with the state of the connection.
  ///
  /// Every access makes a new sequence, which ends when the client is closed. It buffers 100 events; a slower reader
  /// loses the oldest.
  public nonisolated var events: AsyncStream<RefreshEvent> { subscribers.subscribe() }

  /// Ends all leases and the attachment for good.
  ///
  /// A handler at work is cancelled, and its refresh fails.
  public func close() {
    step(.closed)
    // The handler may hold a reference to the client.
    handler = nil
    subscribers.finish()
  }

  // MARK: - The foreground

  /// Keeps the app in the foreground while `body` runs.
  ///
  /// The daemon refreshes the app at once if its data is older than the foreground interval, and again after each such
  /// interval. `body` neither waits for the daemon nor needs one. Calls may overlap: the app stays in the foreground
  /// until the last one returns.
  public func withForeground<Result, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let lease = await foreground()
    defer { lease.end() }
    return try await body()
  }

  /// Puts the app in the foreground until ``ForegroundLease/end()``.
  ///
  /// Use this for a window that gains and loses focus; otherwise prefer ``withForeground(isolation:_:)``. If the daemon
  /// cannot be reached, the client retries at intervals of at most 30 s. After ``close()`` the lease has no effect.
  public func foreground() -> ForegroundLease {
    guard link.state != .closed else { return ForegroundLease(of: nil) }
    foregroundLeases.count += 1
    updateForeground()
    return ForegroundLease(of: self)
  }

  func leaveForeground() {
    foregroundLeases.count -= 1
    updateForeground()
  }

  /// The streams that a connected client has.
  var wanted: [Stream] {
    // An attachment includes a lease of `launched` and the events of `Watch`.
    handler == nil || serving.isOccupied ? [.lease(.launched), .watch] : [.attach]
  }
}
