import CLinux
import Glibc
import JSON

/// The connection of one client of a server.
///
/// The server handles one call at a time. While a call is in flight or its answer is not sent, the server reads nothing
/// more, and the kernel makes the client wait. Between two calls all other connections have a turn (``TurnLine``). Handlers
/// and disconnect actions run only from the reactor, so that a reply never re-enters the code of the replying caller.
public final class Connection {
  /// The process at the other end.
  public private(set) var peer: Peer

  private enum State {
    case open
    /// The peer has closed its end: nothing can be sent, but its earlier calls still run.
    case hungUp
    /// The server gives up; the reactor reports a hang-up, and the connection ends.
    case brokenOff
    case ended
  }

  private let descriptor, refusesDescriptors: Int32
  private weak var server: Server?
  private var watch: (any Watch)?
  private var watched = Readiness.readable
  private var state = State.open
  private var input: MessageBuffer
  private var output = OutputBuffer()
  private var disconnectActions: [String: () -> Void] = [:]
  /// The server's count of chunks when this connection last sent one; the lowest count is that of the longest silence.
  private(set) var lastHeard: UInt64
  /// The server's count when the connection last fell silent (``UserAccounts/markSilent(_:)``).
  var silentSince: UInt64 = 0
  /// The bytes of this connection that the server counts for its user.
  private(set) var countedBytes = 0
  /// The bytes of the call in flight, whose parameters its handler keeps; 0 for a short call.
  private var callBytes = 0

  private var (isInspected, isInFlight) = (false, false)
  private var callsSinceHangUp = 0
  /// Whether a call is being handled; its answers are sent together afterwards.
  private var isInTurn = false
  /// Whether the peer sends nothing more.
  private var isInputEnded = false
  /// Whether bytes have arrived that are not wanted yet; they stay in the kernel.
  private var isReadingPaused = false
  /// Whether the connection waits in the server's line.
  private var isInLine = false
  /// The remaining work of a call, for the next turn.
  private var rest: (() -> Void)?

  /// The most bytes of one read.
  private static let chunk = 4096

  init(descriptor: Int32, peer: Peer, server: Server, heard: UInt64) throws {
    (self.descriptor, self.peer, self.server) = (descriptor, peer, server)
    refusesDescriptors = linux_refuses_descriptors(descriptor)
    lastHeard = heard
    input = MessageBuffer(limit: server.bounds.messageBytes)
    watch = try server.reactor.watch(descriptor, for: watched) { [unowned self] in self.handle($0) }
  }

  /// Whether answers can reach the peer, as far as is known.
  public var isOpen: Bool { state == .open }

  /// Whether the connection may be closed to make room for another.
  var isIdle: Bool { !isInFlight && disconnectActions.isEmpty }

  /// Runs `action` once after this connection has ended; replaces an earlier action of the same name.
  ///
  /// The action runs on the server's thread, from the reactor or ``Server/close()``, never during a reply. It never runs if
  /// the connection has already ended. A connection with an action is not closed to make room.
  public func onDisconnect(_ name: String = "", _ action: @escaping () -> Void) {
    guard state != .ended else { return }
    disconnectActions[name] = action
  }

  /// Removes the action of this name.
  public func cancelDisconnectAction(_ name: String = "") {
    disconnectActions[name] = nil
    server?.markSilent(self)
  }

  // MARK: - Answering

  /// Queues one message and sends what the socket accepts.
  func enqueue(_ value: some JSONWritable, as kind: OutputBuffer.Kind) {
    guard isOpen, let server else { return }
    let wasBlocked = output.isBlocked
    guard output.append(value, as: kind) else { return breakOff() }
    if !wasBlocked, !isInTurn || output.unsent > Connection.chunk { flush() }
    if wasBlocked, output.unsent > server.bounds.unsentBytes { breakOff() }
    if !isInTurn {
      countBytes()
      updateWatch()
    }
  }

  /// Ends the call in flight: its last answer is queued, or it was oneway.
  func callIsOver() {
    (isInFlight, callBytes) = (false, 0)
    server?.markSilent(self)
    guard isOpen, !isInTurn else { return }
    countBytes()
    if input.hasMessage() || isInputEnded { standInLine() }
    if mayRead { isReadingPaused = false }
    updateWatch()
  }

  /// Continues a call with `rest` in the next turn of this connection.
  func goOn(_ rest: @escaping () -> Void) {
    if state != .ended { self.rest = rest }
    if !isInTurn { standInLine() }
  }

  private func flush() {
    if !output.flush(to: descriptor) { breakOff() }
  }

  func breakOff() {
    guard isOpen else { return }
    state = .brokenOff
    output.discard()
    // Makes the reactor report a hang-up.
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  // MARK: - Turns

  private func handle(_ readiness: Readiness) {
    if state == .brokenOff { return end() }
    if !readiness.isDisjoint(with: [.hangup, .error]) {
      state = .hungUp
      output.discard()
      // The reactor would report the hang-up repeatedly until the turn of this connection.
      watch?.cancel()
      watch = nil
      return standInLine()
    }
    if readiness.contains(.writable) { flush() }
    if readiness.contains(.readable) { if mayRead { receive() } else { isReadingPaused = true } }
    guard isDue, server?.mayRunAtOnce(self) == true else { return finishTurn() }
    takeTurn()
    endTurn()
  }

  /// Whether the next call may be handled.
  ///
  /// A client that hung up waits for no reply, so its calls need not wait. Only its first 16 calls are handled.
  private var mayStartCall: Bool {
    switch state {
    case .open: !isInFlight && !output.isBlocked
    case .hungUp: callsSinceHangUp < 16
    case .brokenOff, .ended: false
    }
  }

  /// Whether more may be read: the server keeps only calls that it can handle soon.
  private var mayRead: Bool { mayStartCall && !isInputEnded && !input.hasMessage() }

  /// Whether the connection has work for a turn.
  private var isDue: Bool {
    if state == .hungUp { return true }
    return rest != nil || mayStartCall && (input.hasMessage() || input.isOverLimit)
  }

  private func receive() {
    let count = withUnsafeTemporaryAllocation(byteCount: Connection.chunk, alignment: 16) { chunk in
      let count = linux_receive(descriptor, chunk.baseAddress, chunk.count, 0, refusesDescriptors)
      if count > 0 { input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
      return count
    }
    if count > 0 {
      lastHeard = server?.nextHeard() ?? lastHeard
      server?.markSilent(self)
    } else if count == 0 || state == .hungUp {
      isInputEnded = true
    } else if errno != EAGAIN, errno != EINTR {
      breakOff()
    }
  }

  /// Handles one call, or the remaining work of one; the caller must then call ``endTurn()``.
  func takeTurn() {
    isInLine = false
    if state == .ended { return }
    let start = monotonicNanoseconds()
    isInTurn = true
    if let rest, state == .open {
      self.rest = nil
      rest()
    } else {
      if state == .hungUp, mayRead { receive() }
      startCall()
    }
    server?.spent(since: start, on: self)
  }

  /// Sends the answers of the turn.
  func endTurn() {
    isInTurn = false
    if state == .ended { return }
    let start = monotonicNanoseconds()
    flush()
    server?.spent(since: start, on: self)
    finishTurn()
  }

  private func startCall() {
    guard mayStartCall, let server else { return }
    do throws(MalformedMessage) {
      if input.isOverLimit { throw .tooLong(limit: input.limit) }
      let read = { (message) throws(MalformedMessage) in try IncomingCall(message, of: server.methods) }
      let before = input.count
      guard let call = try input.withNext(read) else { return }
      let bytes = before - input.count
      // A watch or a small change must not count: a long answer beside it would then exceed the bound.
      callBytes = bytes > Connection.chunk ? bytes : 0
      start(call, server)
    } catch {
      // The beginning of the next call is unknown. The earlier replies are sent first.
      if isOpen { _ = output.append(InvalidParameter(parameter: "call"), as: .error(name: InvalidParameter.name)) }
      flush()
      if state == .hungUp { (input, isInputEnded) = (MessageBuffer(limit: input.limit), true) }
      breakOff()
    }
  }

  private func start(_ call: IncomingCall, _ server: Server) {
    isInFlight = true
    if self.state == .hungUp { callsSinceHangUp += 1 }
    if !isInspected { inspectPeer(server) }
    let state = CallState(connection: self, call)
    switch call.action {
    case .fail(let error): state.fail(error)
    case .run where call.kind.isPointlessWithoutReader && (call.isOneway || self.state == .hungUp): state.drop()
    case .run(let handler): server.run(state) { handler(state) }
    }
  }

  /// Inspects the peer's process at its first call, so that a silent client costs nothing.
  private func inspectPeer(_ server: Server) {
    isInspected = true
    guard let confine = server.confine else { return }
    peer.inspect(descriptor, by: confine)
  }

  private func standInLine() {
    guard !isInLine, state != .ended else { return }
    isInLine = true
    server?.line.add(self)
  }

  /// Ends a finished connection after a turn, or watches for its next events.
  private func finishTurn() {
    countBytes()
    if output.hasSentLongReply() { server?.afterLongReply?() }
    if state == .hungUp, !mayStartCall { return end() }
    let isDone = isInputEnded && (state == .hungUp || mayStartCall && output.unsent == 0) && !input.hasMessage()
    if isDone || state == .brokenOff { return end() }
    if isDue { standInLine() }
    if mayRead { isReadingPaused = false }
    updateWatch()
  }

  /// Reports the kept bytes to the server; between most calls there are none.
  private func countBytes() {
    let before = countedBytes
    countedBytes = input.count + output.unsent + callBytes
    guard countedBytes != before, let server else { return }
    server.count(countedBytes - before, of: self)
  }

  private func updateWatch() {
    var wanted: Readiness = []
    if !isReadingPaused && !isInputEnded { wanted.insert(.readable) }
    if output.isBlocked { wanted.insert(.writable) }
    guard wanted != watched else { return }
    watched = wanted
    watch?.events = wanted
  }

  /// Closes the socket and runs the disconnect actions.
  ///
  /// Only the reactor's turn or the server's close may call this.
  func end() {
    guard state != .ended else { return }
    state = .ended
    watch?.cancel()
    watch = nil
    output.discard()
    UnixSocket.close(descriptor, refusesDescriptors: refusesDescriptors != 0)
    rest = nil
    server?.forget(self)
    let actions = disconnectActions
    disconnectActions = [:]
    for name in actions.keys.sorted() { actions[name]?() }
  }
}
