import Glibc
import RefreshAPI
import Varlink

/// A call that lasts as long as its connection.
enum Stream: Hashable, Sendable {
  /// The app performs its own refreshes; includes a lease of `launched`.
  case attach
  /// A lease of a signal: `launched` or `foreground`.
  case lease(Wire.LifecycleSignal)
  /// The events of an app that has no handler here.
  case watch
}

/// A stream whose call was sent.
struct OpenStream {
  let client: Client
  var hasAnswered = false
  /// The callers that wait for the first reply or the end of the stream.
  var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
}

/// Opens, reads and reopens the streams, as ``Link`` decides.
extension RefreshClient {
  /// Connects for the first time.
  func begin(keepsTrying: Bool) async throws(RefreshError) {
    loop.onAlarm = { [weak self] in self?.assumeIsolated { $0.passTime() } }
    step(.opened(keepsTrying: keepsTrying))
    for stream in wanted { await answer(to: stream) }
    if Task.isCancelled {
      close()
      throw .cancelled
    }
    if case .closed = link.state { throw failure }
  }

  /// Waits for the daemon's first reply on a stream; returns at once if there is no such stream, or when the task is
  /// cancelled.
  func answer(to stream: Stream) async {
    guard let open = streams[stream], !open.hasAnswered else { return }
    waiters += 1
    let waiter = waiters
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { continuation.resume() } else { streams[stream]?.waiting[waiter] = continuation }
      }
    } onCancel: {
      Task { await stopWaiting(waiter, for: stream) }
    }
  }

  private func stopWaiting(_ waiter: UInt64, for stream: Stream) {
    streams[stream]?.waiting.removeValue(forKey: waiter)?.resume()
  }

  /// Passes an event to the link and performs its effect.
  func step(_ event: Link.Event) {
    switch link.handle(event, at: .now) {
    case .connect:
      socket = SocketPath.find(named: socketName)
      unknownToUsersDaemon = nil
      openWanted()
      updateForeground()
    case .disconnect(let pause):
      dropAll()
      subscribers.publish(.disconnected(failure, retryingIn: pause))
    case .end: dropAll()
    case nil: break
    }
    arm()
  }

  /// Opens the streams that are newly wanted, and makes the link wait for their replies.
  func extend() {
    guard wanted.contains(where: { streams[$0] == nil }) else { return }
    if case .connected = link.state { step(.extended) } else { openWanted() }
  }

  /// Opens the wanted streams, unless the link waits or is closed.
  func openWanted() {
    for stream in wanted where link.isUp && streams[stream] == nil { open(stream) }
  }

  func broke(_ error: RefreshError) {
    if error.code == .noSuchApp, socket.daemon == .user {
      unknownToUsersDaemon = error
      return reopen(at: .system)
    }
    // If there is no system daemon, the answer of the user's daemon counts.
    failure = error.code == .noDaemon && socket == .system ? unknownToUsersDaemon ?? error : error
    step(.broke(chance: .random(in: 0...1)))
  }

  private func passTime() {
    if case .connecting(_, let until) = link.state, until <= .now { failure = .late }
    step(.timePassed(chance: .random(in: 0...1)))
    serve(.timePassed)
    updateForeground()
    endLateCalls()
    arm()
  }

  /// Sets the only alarm to the earliest time that is due.
  func arm() {
    loop.alarm = ([link.wake, serving.wake, foregroundLeases.retry].compactMap(\.self) + calls.values.map(\.until))
      .min()
  }

  // MARK: Opening and ending

  func open(_ stream: Stream) {
    do throws(ClientError) {
      let client = try Client(path: socket.path)
      switch stream {
      case .attach: try client.begin(AppInterface.Attach.self, .init(app: app), more: true)
      case .lease(let signal):
        try client.begin(AppInterface.Signal.self, .init(app: app, signal: signal, lease: true), more: true)
      case .watch: try client.begin(ManagerInterface.Watch.self, .init(apps: [app]), more: true)
      }
      streams[stream] = OpenStream(client: client)
      loop.watch(client.descriptor) { [weak self] in self?.assumeIsolated { $0.read(stream) } }
    } catch {
      failed(stream, error)
    }
  }

  /// Opens the streams again, at another daemon, for the callers that wait for their first replies.
  private func reopen(at other: SocketPath) {
    socket = other
    for (stream, former) in streams {
      loop.forget(former.client.descriptor)
      streams[stream] = nil
      open(stream)
      streams[stream]?.waiting = former.waiting
      if streams[stream] == nil { for waiting in former.waiting.values { waiting.resume() } }
    }
  }

  func drop(_ stream: Stream) {
    guard let open = streams.removeValue(forKey: stream) else { return }
    loop.forget(open.client.descriptor)
    for waiting in open.waiting.values { waiting.resume() }
  }

  private func dropAll() {
    for stream in Array(streams.keys) { drop(stream) }
    foregroundLeases.reset()
    serve(.disconnected)
  }

  /// Handles a stream that has ended or could not be opened.
  private func failed(_ stream: Stream, _ error: ClientError) {
    guard stream == ForegroundLeases.stream else { return broke(RefreshError(error, at: socket)) }
    drop(stream)
    foregroundLeases.failed(at: .now)
    arm()
  }

  // MARK: Reading

  /// Reads all messages that have arrived.
  private func read(_ stream: Stream) {
    while let open = streams[stream] {
      do throws(ClientError) {
        guard try receive(from: open.client, stream) else { return }
      } catch .malformed where open.hasAnswered {
        // A newer daemon sent values that this library does not know; the messages that follow may be readable.
      } catch {
        failed(stream, error)
      }
    }
  }

  /// Reads the next message; returns false if there is none yet.
  private func receive(from client: Client, _ stream: Stream) throws(ClientError) -> Bool {
    switch stream {
    case .attach:
      guard let answer = try next(AppInterface.Attach.self, from: client) else { return false }
      apply(answer.event)
    case .lease:
      guard let answer = try next(AppInterface.Signal.self, from: client) else { return false }
      if answer.notice == nil { answered(stream, RefreshPhase(answer.phase)) }
    case .watch:
      guard let answer = try next(ManagerInterface.Watch.self, from: client) else { return false }
      if answer.event.kind == .watching { answered(stream, phase) }
      if let event = RefreshEvent(answer.event) { subscribers.publish(event) }
    }
    return true
  }

  private func next<Method: InterfaceMethod>(
    _ method: Method.Type, from client: Client
  ) throws(ClientError) -> Method.Reply? {
    guard let answer = try client.nextAnswer(of: method) else { return nil }
    guard answer.continues else { throw .disconnected }
    return answer.parameters
  }

  private func apply(_ event: Wire.AttachEvent) {
    switch event.kind {
    case .attached:
      answered(.attach, event.phase.map(RefreshPhase.init) ?? phase)
    case .perform:
      if let order = Serving.Order(event) { serve(.performed(order)) }
    case .expiring:
      if let id = event.refresh { serve(.expiring(id: id, deadline: event.deadline)) }
    case .cancelled:
      if let id = event.refresh { serve(.cancelled(id: id)) }
    default:
      if let event = RefreshEvent(event) { subscribers.publish(event) }
    }
  }

  private func answered(_ stream: Stream, _ phase: RefreshPhase) {
    guard var open = streams[stream] else { return }
    let waiting = open.waiting.values
    open.hasAnswered = true
    open.waiting = [:]
    streams[stream] = open
    self.phase = phase
    if wanted.contains(stream) { reportIfAnswered() }
    for waiting in waiting { waiting.resume() }
  }

  /// Reports the connection when all wanted streams have answered, and only then ends the streams that they replace.
  private func reportIfAnswered() {
    guard wanted.allSatisfy({ streams[$0]?.hasAnswered == true }) else { return }
    for stream in Array(streams.keys) where stream != ForegroundLeases.stream && !wanted.contains(stream) {
      // Reads the old stream to its end, because the new one does not repeat its messages.
      read(stream)
      drop(stream)
    }
    guard case .connecting = link.state else { return }
    step(.answered)
    subscribers.publish(.attached(phase))
  }
}

extension Serving.Order {
  /// Nil if the daemon left out a required field.
  fileprivate init?(_ event: Wire.AttachEvent) {
    guard let refresh = event.refresh, let token = event.token, let deadline = event.deadline else { return nil }
    self.init(
      id: refresh, token: token, trigger: event.trigger.map(RefreshTrigger.init) ?? .other, payload: event.payload,
      contentID: event.contentID, session: event.session, tries: event.tries,
      deadline: deadline)
  }
}

extension Wire.AttachEvent {
  /// The deadline, converted from the wall clock to a clock that never steps.
  fileprivate var deadline: ContinuousClock.Instant? {
    guard let deadlineMicroseconds else { return nil }
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    let now = Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1000
    return .now + .microseconds(deadlineMicroseconds.subtractingReportingOverflow(now).partialValue)
  }
}
