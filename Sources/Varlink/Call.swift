import JSON

/// A call of a method; its handler replies now or later, exactly once.
///
/// Belongs to the server's thread. Answering runs no handler and no disconnect action, so it is safe in the middle of a
/// change of the caller's own state. A call whose last copy goes away unanswered is answered with
/// ``MethodNotImplemented``, so that a mistake here never lets the peer wait for ever.
public struct Call<Parameters> {
  /// The parameters of the call.
  public let parameters: Parameters
  let state: CallState

  /// Whether the peer takes more than one answer (`more`).
  ///
  /// A stream without it is answered with ``ExpectedMore``, or
  /// once, as the method likes.
  public var wantsMore: Bool { state.wantsMore }

  /// Whether the peer wants no answer at all (`oneway`); what is answered is dropped, errors too.
  public var isOneway: Bool { state.isOneway }

  /// The connection of the call.
  public var connection: Connection { state.connection }

  /// The caller.
  public var peer: Peer { state.connection.peer }

  /// Whether nothing more can be answered: the last answer is given, or the peer is gone.
  public var isOver: Bool { state.isOver }

  /// Gives the last answer.
  ///
  /// An answer after the last is dropped.
  ///
  /// A value that cannot be encoded as an object closes the connection.
  public func reply(_ value: some JSONWritable) {
    state.reply(value, continues: false)
  }

  /// Gives the last answer, which has nothing to tell.
  public func reply() {
    state.reply()
  }

  /// Gives one answer of several if `continues`, else the last.
  ///
  /// To a call without `more` the first answer is the last. A peer that reads too slowly is disconnected
  /// (``Bounds/unsentBytes``); the call is over then.
  public func reply(_ value: some JSONWritable, continues: Bool) {
    state.reply(value, continues: continues)
  }

  /// Gives an error as the last answer.
  public func fail(_ error: some VarlinkError) {
    state.fail(error)
  }

  /// Does long work in several turns, between which other calls are taken up, until `step` returns false.
  ///
  /// It is dropped when the connection ends.
  public func inTurns(_ step: @escaping () -> Bool) {
    connection.goOn { if step() { self.inTurns(step) } }
  }

  /// Runs `action` once when the connection ends, whoever ends it: ``Connection/onDisconnect(_:_:)``.
  public func onDisconnect(_ name: String = "", _ action: @escaping () -> Void) {
    connection.onDisconnect(name, action)
  }
}

/// The state of one call between the connection and all copies of its `Call`.
final class CallState {
  let connection: Connection
  let method: String
  let wantsMore: Bool
  let isOneway: Bool
  let kind: MethodKind
  private var isAnswered = false
  /// Run once, with the first answer: from then on the call is no work.
  var onFirstAnswer: (() -> Void)?
  /// Run once, after the last answer.
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
    noteAnswer()
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

  /// Ends a call whose answer nobody would hear, without running it.
  func drop() { finish() }

  private func noteAnswer() {
    let run = onFirstAnswer
    onFirstAnswer = nil
    run?()
  }

  private func finish() {
    isAnswered = true
    noteAnswer()
    let run = onEnd
    onEnd = nil
    run?()
    connection.callIsOver()
  }
}
