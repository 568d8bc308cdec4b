import Dispatch
import FoundationEssentials
import Glibc
import Testing

/// A fake daemon whose replies the test controls.
///
/// For situations that the real daemon is in only when it is overloaded, in trouble, or of a newer version.
final class StandIn {
  let socket: String
  private let listener: Int32
  private var calls: AsyncStream<StandInCall>.Iterator
  private var passedOver: [StandInCall] = []

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    socket = "\(parent)/refreshkit-\(getpid())-\(UInt32.random(in: 0 ... .max)).socket"
    let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { [socket] in $0.copyBytes(from: socket.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(listener, 16) == 0)
    let (stream, calls) = AsyncStream.makeStream(of: StandInCall.self)
    self.calls = stream.makeAsyncIterator()
    DispatchQueue.global().async {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        DispatchQueue.global().async { StandInCall.read(from: descriptor) { calls.yield($0) } }
      }
      close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    unlink(socket)
  }

  /// The next call of any kind.
  func next() async throws -> StandInCall {
    if !passedOver.isEmpty { return passedOver.removeFirst() }
    return try #require(await calls.next())
  }

  /// The next call with this name; earlier calls are kept.
  func next(_ name: String) async throws -> StandInCall {
    if let index = passedOver.firstIndex(where: { $0.name == name }) { return passedOver.remove(at: index) }
    while let call = await calls.next() {
      if call.name == name { return call }
      passedOver.append(call)
    }
    throw CancellationError()
  }

  /// Answers the first calls of a client without a handler.
  func welcome(_ phase: String = "background") async throws {
    try await next("launched").answer(#"{"phase":"\#(phase)"}"#)
    try await next("Watch").sendEvent(#"{"kind":"watching","at_us":0}"#)
  }

  /// Answers the attachment of a client with a handler.
  func attach(_ phase: String = "background") async throws -> StandInCall {
    let attach = try await next("Attach")
    attach.sendEvent(#"{"kind":"attached","phase":"\#(phase)"}"#)
    return attach
  }
}

/// A call and its connection.
final class StandInCall: Sendable {
  /// The signal of a lease, else the name of the method without its interface.
  let name: String
  /// The outcome of a completion.
  let outcome: String?
  private let descriptor: Int32
  private let ended = AsyncStream.makeStream(of: Void.self)

  private struct Message: Decodable {
    let method: String
    let parameters: Parameters
    struct Parameters: Decodable {
      let signal: String?
      let outcome: String?
    }
  }

  private init(_ message: Message, _ descriptor: Int32) {
    name = message.parameters.signal ?? message.method.split(separator: ".").last.map(String.init) ?? ""
    outcome = message.parameters.outcome
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Reads the only call of a connection, and waits for the end of the connection.
  fileprivate static func read(from descriptor: Int32, _ receive: (StandInCall) -> Void) {
    var text: [UInt8] = []
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) == 1, byte != 0 { text.append(byte) }
    do {
      let call = StandInCall(try JSONDecoder().decode(Message.self, from: Data(text)), descriptor)
      receive(call)
      while recv(descriptor, &byte, 1, 0) == 1 {}
      call.ended.continuation.finish()
    } catch {
      Issue.record("cannot read the call \(String(decoding: text, as: UTF8.self)): \(error)")
      close(descriptor)
    }
  }

  /// Replies, with more replies to follow.
  func answer(_ parameters: String) { send(#"{"parameters":\#(parameters),"continues":true}"#) }

  /// Sends an event.
  func sendEvent(_ event: String) { answer(#"{"event":\#(event)}"#) }

  /// Hands out a refresh with a deadline in this many seconds.
  func perform(_ id: String, trigger: String = "manual", deadline seconds: Double = 30) {
    sendEvent(
      #"{"kind":"perform","refresh":"\#(id)","token":"\#(id)","trigger":"\#(trigger)","deadline_us":\#(Self.wall(seconds))}"#
    )
  }

  /// The wall time in this many seconds, in microseconds.
  static func wall(_ seconds: Double) -> Int64 { Int64((Date().timeIntervalSince1970 + seconds) * 1_000_000) }

  /// Sends the last reply.
  func finish() { send(#"{"parameters":{}}"#) }

  /// Replies with an error.
  func fail(_ name: String, _ parameters: String = "{}") { send(#"{"error":"\#(name)","parameters":\#(parameters)}"#) }

  /// Ends the connection.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Waits until the client has ended the connection.
  func isEnded() async { for await _ in ended.stream {} }

  private func send(_ text: String) {
    let bytes = Array(text.utf8) + [0]
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}
