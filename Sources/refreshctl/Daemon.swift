import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import Varlink

/// The daemon that a command asks: a connection, and errors that a person can act on.
struct Daemon {
  private let client: Client

  /// Connects to the daemon that the options mean.
  ///
  /// - Parameter seconds: how long to wait for an answer; without end if nil, as a refresh takes its time.
  init(_ options: ConnectionOptions, waitingAtMost seconds: Int? = nil) throws(Failure) {
    let socket = SocketPath.find(named: options.socket)
    do {
      client = try Client(path: socket.path)
    } catch {
      throw Failure(error, socket)
    }
    if let seconds {
      var limit = timeval(tv_sec: seconds, tv_usec: 0)
      setsockopt(client.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Calls a method that answers once.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(Failure) -> Method.Reply {
    do {
      return try client.call(Method.name, parameters, as: Method.Reply.self)
    } catch {
      throw Failure(error)
    }
  }

  /// Calls a method with `more` and hands each answer on.
  func stream<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, _ each: (Method.Reply) throws(Failure) -> Void
  ) throws(Failure) {
    try follow(method, parameters) { reply throws(Failure) in
      try each(reply)
      return true
    }
  }

  /// Calls a method with `more` and hands each answer on, until one is enough.
  ///
  /// - Parameter each: tells whether to go on.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, _ each: (Method.Reply) throws(Failure) -> Bool
  ) throws(Failure) {
    var failure: Failure?
    do {
      try client.stream(Method.name, parameters, as: Method.Reply.self) { reply in
        do throws(Failure) {
          return try each(reply)
        } catch {
          failure = error
          return false
        }
      }
    } catch {
      throw Failure(error)
    }
    if let failure { throw failure }
  }

  /// Calls a method with `more` and gives its first answer; the connection stays open for as long as this value lives.
  func first<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(Failure) -> Method.Reply {
    var first: Method.Reply?
    do {
      try client.stream(Method.name, parameters, as: Method.Reply.self) { reply in
        first = reply
        return false
      }
    } catch {
      throw Failure(error)
    }
    guard let first else { throw Failure(status: .protocolError, text: "cannot call \(Method.name): no answer came") }
    return first
  }

  /// Has SIGIO sent to this process when something comes from the daemon or the connection ends (fcntl(2), `O_ASYNC`).
  func reportBySignal() {
    let descriptor = client.descriptor
    _ = fcntl(descriptor, F_SETOWN, getpid())
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC | O_NONBLOCK)
  }

  /// Whether the connection has ended; drops what came on it until then.
  ///
  /// Only after ``reportBySignal()``, which keeps it from blocking.
  func isAtEnd() -> Bool {
    var dropped = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(client.descriptor, &dropped, dropped.count)
      if count == 0 { return true }
      if count < 0, errno != EINTR { return errno != EAGAIN }
    }
  }
}
