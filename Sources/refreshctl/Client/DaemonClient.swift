@preconcurrency import Glibc
import RefreshAPI
import Varlink

/// A connection to the daemon, with errors that a person can act on.
struct DaemonClient {
  private let client: Client
  private let wait: AnswerWait

  /// Connects to the daemon that the options name.
  init(_ options: ConnectionOptions, _ wait: AnswerWait = .ofPerson) throws(Failure) {
    try self.init(socket: options.daemon.socket, wait)
  }

  /// Connects to the daemon of a socket; nil connects to the default daemon.
  ///
  /// `wait` bounds how long a call waits for its first reply.
  init(socket: String?, _ wait: AnswerWait = .ofPerson) throws(Failure) {
    try self.init(at: SocketPath.find(named: socket), wait)
  }

  /// Connects to the daemon of a socket that was already found.
  init(at socket: SocketPath, _ wait: AnswerWait = .ofPerson) throws(Failure) {
    do {
      client = try Client(path: socket.path)
    } catch {
      throw Failure(error, socket)
    }
    self.wait = wait
  }

  /// Calls a method that replies once.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(Failure) -> Method.Reply {
    try begin(method, parameters, more: false)
    try wait.forAnswer(on: client.descriptor)
    do {
      return try client.answer(of: Method.self).parameters
    } catch {
      throw Failure(error)
    }
  }

  /// Calls a method with `more` and passes each reply to `receive`.
  func stream<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, _ receive: (Method.Reply) throws(Failure) -> Void
  ) throws(Failure) {
    try follow(method, parameters) { reply throws(Failure) in
      try receive(reply)
      return true
    }
  }

  /// Calls a method with `more` and passes each reply to `receive` until `receive` returns false.
  ///
  /// With `isAnsweredAtOnce`, the first reply has a bound. Without it, the first event may come hours later.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, isAnsweredAtOnce: Bool = false,
    _ receive: (Method.Reply) throws(Failure) -> Bool
  ) throws(Failure) {
    try begin(method, parameters, more: true)
    if isAnsweredAtOnce { try wait.forAnswer(on: client.descriptor) }
    while true {
      let answer: (parameters: Method.Reply, continues: Bool)
      do {
        answer = try client.answer(of: Method.self)
      } catch {
        throw Failure(error)
      }
      guard try receive(answer.parameters), answer.continues else { return }
    }
  }

  /// Calls a method with `more` and returns its first reply; the connection stays open as long as this value lives.
  func first<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(Failure) -> Method.Reply {
    var first: Method.Reply?
    try follow(method, parameters, isAnsweredAtOnce: true) { reply throws(Failure) in
      first = reply
      return false
    }
    guard let first else { throw Failure(status: .protocolError, text: "cannot call \(Method.name): no answer came") }
    return first
  }

  /// The connected socket, to wait on in poll(2).
  var descriptor: Int32 { client.descriptor }

  /// Calls a method and returns at once; ``nextAnswer(of:)`` takes the replies.
  func begin<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, more: Bool
  ) throws(Failure) {
    do {
      try client.begin(Method.self, parameters, more: more)
    } catch {
      throw Failure(error)
    }
  }

  /// The next reply to the call that was begun; nil if none has arrived.
  func nextAnswer<Method: InterfaceMethod>(of method: Method.Type) throws(Failure) -> Method.Reply? {
    do {
      return try client.nextAnswer(of: Method.self)?.parameters
    } catch {
      throw Failure(error)
    }
  }

  /// Makes the kernel send SIGIO to this process when data arrives or the connection ends (fcntl(2), `O_ASYNC`).
  func reportBySignal() {
    let descriptor = client.descriptor
    _ = fcntl(descriptor, F_SETOWN, getpid())
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC | O_NONBLOCK)
  }

  /// Whether the connection has ended; drops data that has arrived.
  ///
  /// Call ``reportBySignal()`` first: it makes the descriptor non-blocking.
  func isAtEnd() -> Bool {
    var dropped = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(client.descriptor, &dropped, dropped.count)
      if count == 0 { return true }
      if count < 0, errno != EINTR { return errno != EAGAIN }
    }
  }
}
