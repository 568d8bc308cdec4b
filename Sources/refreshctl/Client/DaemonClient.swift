@preconcurrency import Glibc
import RefreshAPI
import Varlink

/// A connection to the daemon, with errors that a person can act on.
struct DaemonClient {
  private let client: Client
  private let wait: AnswerWait

  /// Connects to the daemon that the options name.
  init(_ options: ConnectionOptions, _ wait: AnswerWait = .ofPerson) throws(Failure) {
    try self.init(socket: options.socket, wait)
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

  /// Calls a method and returns at once; ``nextAnswer(of:)`` reads the replies.
  func begin<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, more: Bool
  ) throws(Failure) {
    do {
      try client.begin(Method.self, parameters, more: more)
    } catch {
      throw Failure(error)
    }
  }

  /// Reads the next reply to the call that was begun; nil if none has arrived.
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

/// How long a call waits for the daemon's first reply.
///
/// systemd owns the socket, so a call is accepted even while the daemon cannot start.
struct AnswerWait {
  /// Seconds until a message on standard error says that the daemon is silent; nil for no message.
  var secondsUntilMessage: Int32?
  /// Seconds until the call fails.
  ///
  /// The daemon's own waits are shorter: it reads configuration folders for 30 s at most.
  let secondsAtMost: Int32

  /// The wait of a person at a terminal, or of a script.
  static let ofPerson = AnswerWait(secondsUntilMessage: 5, secondsAtMost: 60)
  /// The wait for a lease; it is short, because meanwhile the end of the command goes unnoticed.
  static let ofLease = AnswerWait(secondsAtMost: 5)
  /// The wait of a command that goes on without a daemon.
  static let ofOverview = AnswerWait(secondsAtMost: 10)
  /// The wait of a shell that completes a word.
  static let ofCompletion = AnswerWait(secondsAtMost: 1)

  /// Waits until the socket has a reply or the connection ends.
  func forAnswer(on descriptor: Int32) throws(Failure) {
    var rest = secondsAtMost
    if let secondsUntilMessage {
      if Self.isReady(descriptor, within: secondsUntilMessage) { return }
      warn("no answer from the daemon for \(secondsUntilMessage) s; waiting \(rest - secondsUntilMessage) s more")
      rest -= secondsUntilMessage
    }
    guard Self.isReady(descriptor, within: rest) else {
      throw Failure(
        status: .noDaemon,
        text:
          "cannot get an answer: the daemon has not answered for \(secondsAtMost) s; read the daemon's journal for the "
          + "reason, then try again")
    }
  }

  private static func isReady(_ descriptor: Int32, within seconds: Int32) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let end = Int64(now.tv_sec + Int(seconds)) * 1000 + Int64(now.tv_nsec) / 1_000_000
    while true {
      clock_gettime(CLOCK_MONOTONIC, &now)
      let rest = end - Int64(now.tv_sec) * 1000 - Int64(now.tv_nsec) / 1_000_000
      var set = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&set, 1, Int32(max(0, rest)))
      // A signal that is handled, such as SIGWINCH, interrupts poll(2).
      if count >= 0 || errno != EINTR { return count != 0 }
    }
  }
}

extension SocketOptions {
  /// The time between two attempts to reach a daemon that has ended.
  static let secondsBetweenAttempts: UInt32 = 1
  static let lostWords = "the daemon closed the connection; connecting again when it answers"
  static let foundWords = "the daemon answers again"
}

extension DaemonOptions {
  /// Passes each reply of a method to `receive` until Ctrl-C; reconnects when the daemon ends, for example at a restart.
  ///
  /// Calls `lost` after the end of the connection and the message about it on standard error.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lost: () -> Void = {},
    _ receive: (Method.Reply) throws(Failure) -> Void
  ) throws(Failure) {
    try follow(
      method, parameters, lost: lost,
      untilFalse: { reply throws(Failure) in
        try receive(reply)
        return true
      })
  }

  /// Passes each reply to `receive` until it returns false or the daemon ends the call; reconnects likewise.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lost: () -> Void,
    untilFalse receive: (Method.Reply) throws(Failure) -> Bool
  ) throws(Failure) {
    var wasHeard = false
    var isLost = false
    while true {
      do throws(Failure) {
        return try DaemonClient(socket: socket).follow(method, parameters) { reply throws(Failure) in
          if isLost { warn(SocketOptions.foundWords) }
          (wasHeard, isLost) = (true, false)
          return try receive(reply)
        }
      } catch {
        guard wasHeard, error.status == .noDaemon else { throw error }
        if !isLost {
          warn("\(SocketOptions.lostWords) (Ctrl-C ends this)")
          lost()
        }
        isLost = true
        sleep(SocketOptions.secondsBetweenAttempts)
      }
    }
  }
}
