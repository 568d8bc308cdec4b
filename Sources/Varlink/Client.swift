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
  /// Throws at once when nobody listens there: the error's code is `ENOENT` where there is no socket, `ECONNREFUSED`
  /// where nobody listens on it any more, `EACCES` where the caller may not connect (connect(2), unix(7)).
  public init(path: String) throws(SocketError) {
    descriptor = try UnixSocket.connect(to: path)
  }

  deinit {
    close(descriptor)
  }

  /// Calls a method and waits for its one answer.
  ///
  /// Throws ``ClientError/failed(_:)`` for an error that the service declares.
  public func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as reply: Reply.Type
  ) throws(ClientError) -> Reply {
    try send(Outgoing(method: method, parameters: parameters))
    return try receive(reply, of: method).parameters
  }

  /// Calls a method with `more` and hands over each answer until the last, or until `each` gives back false.
  ///
  /// Who stops before the last answer has ended the use of the connection: what it still brings belongs to that call.
  public func stream<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable, as reply: Reply.Type, each: (Reply) throws(ClientError) -> Bool
  ) throws(ClientError) {
    try send(Outgoing(method: method, parameters: parameters, more: true))
    while true {
      let answer = try receive(reply, of: method)
      guard try each(answer.parameters), answer.continues else { return }
    }
  }

  /// Calls a method that is not to answer (`oneway`); whether it was heard, or did what it should, nobody tells.
  public func send(_ method: String, _ parameters: some Encodable) throws(ClientError) {
    try send(Outgoing(method: method, parameters: parameters, oneway: true))
  }

  private func send(_ call: Outgoing<some Encodable>) throws(ClientError) {
    let method = call.method
    var bytes: [UInt8]
    do {
      bytes = Array(try JSONEncoder().encode(call))
    } catch {
      throw .malformed(method: method, "\(error)")
    }
    bytes.append(0)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .disconnected(method: method) }
      rest = rest.dropFirst(count)
    }
  }

  private func receive<Reply: Decodable>(
    _ type: Reply.Type, of method: String
  ) throws(ClientError) -> (parameters: Reply, continues: Bool) {
    while true {
      let answer = try input.withNext { message throws(ClientError) in try read(type, from: message, of: method) }
      if let answer { return answer }
      guard !input.isOverLimit else { throw .malformed(method: method, "the answer is too long") }
      let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { chunk in
        let count = recv(descriptor, chunk.baseAddress, chunk.count, 0)
        if count > 0 { input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
        return count
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .disconnected(method: method) }
    }
  }

  private func read<Reply: Decodable>(
    _ type: Reply.Type, from message: UnsafeMutableRawBufferPointer, of method: String
  ) throws(ClientError) -> (parameters: Reply, continues: Bool) {
    do {
      let text = try jsonText(message)
      let answer = try decoder.decode(Incoming<Reply>.self, from: text)
      if let name = answer.error { throw ClientError.failed(ErrorReply(name: name, answer: Array(text))) }
      return (try answer.parameters ?? decoder.decode(Reply.self, from: emptyObject), answer.continues ?? false)
    } catch let error as ClientError {
      throw error
    } catch {
      throw .malformed(method: method, "\(error)")
    }
  }
}

/// Why a call has no answer that can be used.
public enum ClientError: Error, CustomStringConvertible {
  /// The service answered with an error that one of its interfaces declares.
  case failed(ErrorReply)
  /// The connection ended before the answer.
  case disconnected(method: String)
  /// The question or the answer is not what the method's declaration says.
  case malformed(method: String, String)

  /// What happened, for a person.
  public var description: String {
    switch self {
    case .failed(let reply): "cannot do what was asked: the service answered \(reply.name)"
    case .disconnected(let method): "cannot get an answer to \(method): the service closed the connection"
    case .malformed(let method, let reason): "cannot call \(method): the parameters or the answer do not fit: \(reason)"
    }
  }
}

/// An error as it came over the wire.
public struct ErrorReply: Sendable {
  /// The whole name, such as `org.refreshd.App.NoSuchApp`.
  public let name: String
  let answer: [UInt8]

  /// The error's parameters as the type that declares them; nil when the name is another's or they do not fit.
  ///
  /// Absent parameters decode like an empty object.
  public func parameters<Parameters: Decodable>(as type: Parameters.Type, named name: String) -> Parameters? {
    guard name == self.name else { return nil }
    let decoder = JSONDecoder()
    // Parameters that do not fit are no parameters: the name is all there is to go by.
    return try? decoder.decode(ErrorEnvelope<Parameters>.self, from: Data(answer)).parameters
      ?? decoder.decode(Parameters.self, from: emptyObject)
  }
}

/// A call as the client sends it.
private struct Outgoing<Parameters: Encodable>: Encodable {
  let method: String
  let parameters: Parameters
  var more: Bool?
  var oneway: Bool?
}

/// An answer as the client reads it: parameters of the method's type, unless it is an error.
private struct Incoming<Parameters: Decodable>: Decodable {
  let parameters: Parameters?
  let continues: Bool?
  let error: String?

  private enum Key: String, CodingKey {
    case parameters, continues, error
  }

  init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Key.self)
    error = try message.decodeIfPresent(String.self, forKey: .error)
    continues = try message.decodeIfPresent(Bool.self, forKey: .continues)
    // Those of an error are the caller's to decode, who knows their type.
    parameters = error == nil ? try message.decodeIfPresent(Parameters.self, forKey: .parameters) : nil
  }
}

/// An error's answer, when its name has told the type of its parameters.
private struct ErrorEnvelope<Parameters: Decodable>: Decodable {
  let parameters: Parameters?
}
