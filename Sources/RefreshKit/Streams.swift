import Glibc
import JSON
import RefreshAPI
import Varlink

/// What the daemon is told for as long as a connection lasts.
enum Stream: Hashable, Sendable {
  /// The app refreshes itself; it is launched as well.
  case attach
  /// A lease of a signal: `launched` or `foreground`.
  case lease(Wire.LifecycleSignal)
  /// What happens to an app that others refresh.
  case watch
}

/// A stream whose call was sent.
struct OpenStream {
  let client: Client
  var hasAnswered = false
  /// Who waits for the first answer, or for the end of the stream.
  var waiting: [CheckedContinuation<Void, Never>] = []
}

/// The connections that last: made, read and made anew as ``Link`` says.
extension RefreshClient {
  /// Connects for the first time.
  func begin(keepsTrying: Bool) async throws(RefreshError) {
    loop.onAlarm = { [weak self] in self?.assumeIsolated { $0.passTime() } }
    step(.opened(keepsTrying: keepsTrying))
    for stream in wanted { await answer(to: stream) }
    if case .closed = link.state { throw failure }
  }

  /// Waits until the daemon has answered; not at all if there is no such stream.
  func answer(to stream: Stream) async {
    guard let open = streams[stream], !open.hasAnswered else { return }
    await withCheckedContinuation { streams[stream]?.waiting.append($0) }
  }

  /// Has the link decide, and does what it says.
  func step(_ event: Link.Event) {
    switch link.handle(event, at: .now) {
    case .connect:
      socket = SocketPath.find(named: socketName)
      openWanted()
      settleForeground()
    case .disconnect(let pause):
      dropAll()
      subscribers.tell(.disconnected(failure, retryingIn: pause))
    case .end: dropAll()
    case nil: break
    }
    arm()
  }

  /// Opens what has come to be wanted, and has the link wait for its answer.
  func extend() {
    guard wanted.contains(where: { streams[$0] == nil }) else { return }
    if case .connected = link.state { step(.extended) } else { openWanted() }
  }

  /// Opens what is wanted, unless the link waits or is closed.
  func openWanted() {
    for stream in wanted where link.isUp && streams[stream] == nil { open(stream) }
  }

  func broke(_ error: RefreshError) {
    failure = error
    step(.broke(chance: .random(in: 0...1)))
  }

  private func passTime() {
    if case .connecting(_, let until) = link.state, until <= .now { failure = .late }
    step(.timePassed(chance: .random(in: 0...1)))
    serve(.timePassed)
    settleForeground()
    endLateCalls()
    arm()
  }

  /// Sets the one alarm to the earliest of all that is waited for.
  func arm() {
    loop.alarm = ([link.wake, serving.wake, foregroundLeases.retry].compactMap(\.self) + calls.values.map(\.until))
      .min()
  }

  // MARK: Opening and ending

  func open(_ stream: Stream) {
    do throws(ClientError) {
      let client = try Client(path: socket.path)
      switch stream {
      case .attach: try client.begin(AppInterface.Attach.name, AppInterface.Attach.Parameters(app: app), more: true)
      case .lease(let signal):
        let lease = AppInterface.Signal.Parameters(app: app, signal: signal, lease: true)
        try client.begin(AppInterface.Signal.name, lease, more: true)
      case .watch:
        try client.begin(ManagerInterface.Watch.name, ManagerInterface.Watch.Parameters(apps: [app]), more: true)
      }
      streams[stream] = OpenStream(client: client)
      loop.watch(client.descriptor) { [weak self] in self?.assumeIsolated { $0.read(stream) } }
    } catch {
      failed(stream, error)
    }
  }

  func drop(_ stream: Stream) {
    guard let open = streams.removeValue(forKey: stream) else { return }
    loop.forget(open.client.descriptor)
    for waiting in open.waiting { waiting.resume() }
  }

  private func dropAll() {
    for stream in Array(streams.keys) { drop(stream) }
    foregroundLeases.reset()
    serve(.disconnected)
  }

  /// A stream has ended, or could not be opened.
  private func failed(_ stream: Stream, _ error: ClientError) {
    guard stream == ForegroundLeases.stream else { return broke(RefreshError(error, at: socket)) }
    drop(stream)
    foregroundLeases.failed(at: .now)
    arm()
  }

  // MARK: Reading

  /// Takes all that has come.
  private func read(_ stream: Stream) {
    while let open = streams[stream] {
      do throws(ClientError) {
        guard try take(from: open.client, stream) else { return }
      } catch .malformed where open.hasAnswered {
        // Of a later daemon, with values that this library does not know: what it says after it may be known.
      } catch {
        failed(stream, error)
      }
    }
  }

  /// Takes the next answer; false if there is none yet.
  private func take(from client: Client, _ stream: Stream) throws(ClientError) -> Bool {
    switch stream {
    case .attach:
      guard let answer = try next(AppInterface.Attach.Reply.self, from: client) else { return false }
      take(answer.event)
    case .lease:
      guard let answer = try next(AppInterface.Signal.Reply.self, from: client) else { return false }
      if answer.notice == nil { answered(stream, RefreshPhase(answer.phase)) }
    case .watch:
      guard let answer = try next(ManagerInterface.Watch.Reply.self, from: client) else { return false }
      if answer.event.kind == .watching { answered(stream, phase) }
      if let event = RefreshEvent(answer.event) { subscribers.tell(event) }
    }
    return true
  }

  private func next<Reply: JSONReadable>(_ type: Reply.Type, from client: Client) throws(ClientError) -> Reply? {
    guard let answer = try client.nextAnswer(as: type) else { return nil }
    guard answer.continues else { throw .disconnected }
    return answer.parameters
  }

  private func take(_ event: Wire.AttachEvent) {
    switch event.kind {
    case "attached":
      answered(.attach, event.phase.map(RefreshPhase.init) ?? phase)
    case "perform":
      if let order = Serving.Order(event) { serve(.performed(order)) }
    case "expiring":
      if let id = event.refresh { serve(.expiring(id: id, deadline: event.deadline)) }
    case "cancelled":
      if let id = event.refresh { serve(.cancelled(id: id)) }
    default:
      if let event = RefreshEvent(event) { subscribers.tell(event) }
    }
  }

  private func answered(_ stream: Stream, _ phase: RefreshPhase) {
    guard var open = streams[stream] else { return }
    let waiting = open.waiting
    open.hasAnswered = true
    open.waiting = []
    streams[stream] = open
    self.phase = phase
    if wanted.contains(stream) { settle() }
    for waiting in waiting { waiting.resume() }
  }

  /// Takes note when all has answered that makes the client a connected one; what that replaces is ended only now.
  private func settle() {
    guard wanted.allSatisfy({ streams[$0]?.hasAnswered == true }) else { return }
    for stream in Array(streams.keys) where stream != ForegroundLeases.stream && !wanted.contains(stream) {
      // What it was told before is not told by what takes its place.
      read(stream)
      drop(stream)
    }
    guard case .connecting = link.state else { return }
    step(.answered)
    subscribers.tell(.attached(phase))
  }
}

extension Serving.Order {
  /// Nil if the daemon left out what no refresh is without.
  fileprivate init?(_ event: Wire.AttachEvent) {
    guard let refresh = event.refresh, let token = event.token, let deadline = event.deadline else { return nil }
    self.init(
      id: refresh, token: token, trigger: RefreshTrigger(event.trigger), payload: event.payload,
      contentID: event.contentID, session: event.session, deadline: deadline)
  }
}

extension Wire.AttachEvent {
  /// The deadline, which is told by the wall clock, on a clock that never steps.
  fileprivate var deadline: ContinuousClock.Instant? {
    guard let deadlineMicroseconds else { return nil }
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    let now = Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1000
    return .now + .microseconds(deadlineMicroseconds.subtractingReportingOverflow(now).partialValue)
  }
}
