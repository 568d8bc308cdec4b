import CLinux
import FoundationEssentials
import Glibc

/// A connection to a Varlink service, for a program that has nothing to do until the answer comes.
///
/// Blocks the calling thread; there is no thread or loop behind it. One call at a time: <https://varlink.org/Method-Call>.
///
///     let client = try Client(path: "/run/refreshd/org.refreshd")
///     let reply = try client.call("org.refreshd.Manager.Version", NoParameters(), as: VersionReply.self)
public final class Client {
  /// The most bytes of one answer that are taken: a list of a hundred thousand apps, and no service's mistake without end.
  static let answerLimit = 64 << 20

  /// The connected socket, to wait on in poll(2); it stays the client's.
  public let descriptor: Int32
  private var input = MessageBuffer(limit: Client.answerLimit)
  private let decoder = JSONDecoder()

  /// Connects to the socket at a path.
  ///
  /// Throws ``ClientError/unreachable(_:)`` at once when nobody listens there: its code is `ENOENT` where there is no
  /// socket, `ECONNREFUSED` where nobody listens on it any more, `EACCES` where the caller may not connect (connect(2),
  /// unix(7)).
  public init(path: String) throws(ClientError) {
    do throws(SocketError) {
      descriptor = try UnixSocket.connect(to: path)
    } catch {
      throw .unreachable(error)
    }
  }

  deinit {
    close(descriptor)
  }

  /// Calls a method and waits for its one answer.
  ///
  /// Throws ``ClientError/failed(_:)`` for an error that the service answers with.
  public func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as reply: Reply.Type
  ) throws(ClientError) -> Reply {
    try send(OutgoingCall(method: method, parameters: parameters, more: nil, oneway: nil))
    return try receive(reply).parameters
  }

  /// Calls a method with `more` and hands over each answer until the last, or until `each` gives back false.
  ///
  /// Who stops before the last answer has ended the use of the connection: what it still brings belongs to that call.
  public func stream<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as reply: Reply.Type, each: (Reply) -> Bool
  ) throws(ClientError) {
    try send(OutgoingCall(method: method, parameters: parameters, more: true, oneway: nil))
    while true {
      let answer = try receive(reply)
      guard each(answer.parameters), answer.continues else { return }
    }
  }

  /// Calls a method `oneway`: nobody answers, not even with an error.
  ///
  /// When this returns, the kernel has the call, and the service gets it even if the client is closed.
  public func send(_ method: String, _ parameters: some Encodable) throws(ClientError) {
    try send(OutgoingCall(method: method, parameters: parameters, more: nil, oneway: true))
  }

  /// Calls a method and returns at once; its answers are taken with ``nextAnswer(as:)``.
  ///
  /// For a program that waits for several things at once. With `more` the service may answer more than once.
  public func begin(_ method: String, _ parameters: some Encodable, more: Bool) throws(ClientError) {
    try send(OutgoingCall(method: method, parameters: parameters, more: more ? true : nil, oneway: nil))
  }

  /// The next answer to the call that was begun, and whether others follow; nil if none has come yet.
  ///
  /// Never waits. After nil there is nothing left to read, so poll(2) on ``descriptor`` tells when to ask again. After
  /// ``ClientError/malformed(_:)`` the answers that follow can be taken all the same, if any do.
  public func nextAnswer<Reply: Decodable>(
    as reply: Reply.Type
  ) throws(ClientError) -> (parameters: Reply, continues: Bool)? {
    try receive(reply, waits: false)
  }

  private func send(_ call: OutgoingCall<some Encodable>) throws(ClientError) {
    var bytes: [UInt8]
    do {
      bytes = Array(try JSONEncoder().encode(call))
    } catch {
      throw .malformed("the parameters cannot be encoded: \(error)")
    }
    bytes.append(0)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
        return linux_send(descriptor, rest.baseAddress, rest.count, 1)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .disconnected }
      sent += count
    }
  }

  private func receive<Reply: Decodable>(_ type: Reply.Type) throws(ClientError) -> (parameters: Reply, continues: Bool)
  {
    guard let answer = try receive(type, waits: true) else { throw .disconnected }
    return answer
  }

  private func receive<Reply: Decodable>(
    _ type: Reply.Type, waits: Bool
  ) throws(ClientError) -> (parameters: Reply, continues: Bool)? {
    while true {
      let answer = try input.withNext { message throws(ClientError) in try read(type, from: message) }
      if let answer { return answer }
      guard !input.isOverLimit else {
        // Nothing that follows can be told from it.
        shutdown(descriptor, Int32(SHUT_RDWR))
        input = MessageBuffer(limit: Client.answerLimit)
        throw .malformed("it has more than \(Client.answerLimit) bytes")
      }
      let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { chunk in
        let count =
          waits
          ? recv(descriptor, chunk.baseAddress, chunk.count, 0)
          : linux_receive_now(descriptor, chunk.baseAddress, chunk.count)
        if count > 0 { input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
        return count
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN, !waits { return nil }
      guard count > 0 else { throw .disconnected }
    }
  }

  private func read<Reply: Decodable>(
    _ type: Reply.Type, from message: UnsafeMutableRawBufferPointer
  ) throws(ClientError) -> (parameters: Reply, continues: Bool) {
    do {
      let text = try jsonText(message)
      let answer = try decoder.decode(IncomingAnswer<Reply>.self, from: text)
      // The text is lent, and the error outlives it.
      if let name = answer.error { throw ClientError.failed(ErrorReply(name: name, message: Array(text))) }
      if let parameters = answer.parameters { return (parameters, answer.continues) }
      return (try decoder.decode(Reply.self, from: Data("{}".utf8)), answer.continues)
    } catch let error as ClientError {
      throw error
    } catch {
      throw .malformed(String(describing: error))
    }
  }
}

/// A call as the client sends it.
private struct OutgoingCall<Parameters: Encodable>: Encodable {
  let method: String
  let parameters: Parameters
  let more: Bool?
  let oneway: Bool?
}

/// An answer as the client reads it: parameters of the method's type, unless it is an error.
private struct IncomingAnswer<Parameters: Decodable>: Decodable {
  let parameters: Parameters?
  let continues: Bool
  let error: String?

  private enum Key: String, CodingKey {
    case parameters, continues, error
  }

  init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Key.self)
    error = try message.decodeIfPresent(String.self, forKey: .error)
    continues = try message.decodeIfPresent(Bool.self, forKey: .continues) ?? false
    // Those of an error are the caller's to decode, who knows their type.
    parameters = error == nil ? try message.decodeIfPresent(Parameters.self, forKey: .parameters) : nil
  }
}
