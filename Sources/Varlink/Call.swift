import JSON

/// A call of a method; its handler replies exactly once, now or later.
///
/// Belongs to the server's thread. A reply runs no handler and no disconnect action, so the caller may reply in the middle
/// of a change of its own state. A call whose last copy is released without a reply gets ``MethodNotImplemented``, so that
/// a mistake here never makes the peer wait forever.
public struct Call<Parameters> {
  /// The parameters of the call.
  public let parameters: Parameters
  let state: CallState

  /// Whether the peer accepts more than one answer (`more`).
  ///
  /// The reply to a stream without it is ``ExpectedMore`` or a single answer, as the method decides.
  public var wantsMore: Bool { state.wantsMore }

  /// Whether the peer wants no answer (`oneway`); answers and errors are then dropped.
  public var isOneway: Bool { state.isOneway }

  /// The connection of the call.
  public var connection: Connection { state.connection }

  /// The caller.
  public var peer: Peer { state.connection.peer }

  /// Whether no more answers can be sent: the last answer is given, or the peer is gone.
  public var isOver: Bool { state.isOver }

  /// Whether the answer has no receiver, so that it need not be computed.
  public var isUnheard: Bool { state.isOneway || state.isOver }

  /// Ends the call without an answer, because the answer has no receiver (``isUnheard``).
  public func drop() { state.drop() }

  /// Gives the last answer; drops any answer after the last.
  ///
  /// A value that cannot be encoded as an object closes the connection.
  public func reply(_ value: some JSONWritable) {
    state.reply(value, continues: false)
  }

  /// Gives the last answer, without parameters.
  public func reply() {
    state.reply()
  }

  /// Gives an answer: one of several if `continues`, else the last.
  ///
  /// Without `more`, the first answer is the last. The server disconnects a peer that reads too slowly
  /// (``Bounds/unsentBytes``), and the call is then over.
  public func reply(_ value: some JSONWritable, continues: Bool) {
    state.reply(value, continues: continues)
  }

  /// Gives an error as the last answer.
  public func fail(_ error: some VarlinkError) {
    state.fail(error)
  }

  /// Does long work in several turns until `step` returns false; other calls run between the turns.
  ///
  /// The work ends with the connection.
  public func inTurns(_ step: @escaping () -> Bool) {
    connection.goOn { if step() { self.inTurns(step) } }
  }

  /// Runs `action` once when the connection ends, for any reason: ``Connection/onDisconnect(_:_:)``.
  public func onDisconnect(_ name: String = "", _ action: @escaping () -> Void) {
    connection.onDisconnect(name, action)
  }
}

/// The state of a call, shared by the connection and all copies of its `Call`.
final class CallState {
  let connection: Connection
  let method: String
  let wantsMore: Bool
  let isOneway: Bool
  let kind: MethodKind
  private var isAnswered = false
  /// Runs once, at the first answer; from then on the call does not count as work.
  var onFirstAnswer: (() -> Void)?
  /// Runs once, after the last answer.
  var onEnd: (() -> Void)?

  init(connection: Connection, _ call: IncomingCall) {
    self.connection = connection
    (method, wantsMore, isOneway, kind) = (call.method, call.wantsMore, call.isOneway, call.kind)
  }

  deinit {
    if !isAnswered { fail(MethodNotImplemented(method: method)) }
  }

  var isOver: Bool { isAnswered || !connection.isOpen }

  func reply(_ value: some JSONWritable, continues: Bool) {
    guard !isAnswered else { return }
    let isLast = !continues || !wantsMore
    if !isOneway {
      connection.enqueue(value, as: isLast ? .last : .continues)
    }
    endWork()
    if isLast { finish() }
  }

  func reply() {
    guard !isAnswered else { return }
    if !isOneway {
      connection.enqueue(NoParameters(), as: .last)
    }
    finish()
  }

  func fail(_ error: some VarlinkError) {
    guard !isAnswered else { return }
    if !isOneway {
      connection.enqueue(error, as: .error(name: type(of: error).name))
    }
    finish()
  }

  /// Ends a call without running it, because the answer has no receiver.
  func drop() { finish() }

  private func endWork() {
    let run = onFirstAnswer
    onFirstAnswer = nil
    run?()
  }

  private func finish() {
    isAnswered = true
    endWork()
    let run = onEnd
    onEnd = nil
    run?()
    connection.callIsOver()
  }
}
