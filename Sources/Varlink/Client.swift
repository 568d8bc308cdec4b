import CLinux
import Glibc
import JSON

/// A connection to a Varlink service, for a program without an event loop.
///
/// It has no thread of its own, and makes one call at a time: <https://varlink.org/Method-Call>.
///
///     let client = try Client(path: "/run/refreshd/org.refreshd")
///     let reply = try client.call(ManagerInterface.Version.self, .init())
public final class Client {
  /// The most bytes of an answer: enough for a list of a hundred thousand apps, and a bound for an endless answer.
  private static let answerLimit = 64 << 20

  /// The connected socket, to wait on in poll(2); the client owns it.
  public let descriptor: Int32
  private let refusesDescriptors: Bool
  private var input = MessageBuffer(limit: Client.answerLimit)

  /// Connects to the socket at a path.
  ///
  /// Throws ``ClientError/unreachable(_:)`` at once if no service listens there. Its code is `ENOENT` if there is no socket,
  /// `ECONNREFUSED` if no process listens on it any longer, and `EACCES` if the caller may not connect (connect(2), unix(7)).
  public init(path: String) throws(ClientError) {
    do throws(SocketError) {
      descriptor = try UnixSocket.connect(to: path)
    } catch {
      throw .unreachable(error)
    }
    refusesDescriptors = linux_refuses_descriptors(descriptor) != 0
  }

  deinit {
    UnixSocket.close(descriptor, refusesDescriptors: refusesDescriptors)
  }

  /// Calls a method and waits for its only answer.
  ///
  /// Throws ``ClientError/failed(_:)`` if the service answers with an error.
  public func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(ClientError) -> Method.Reply {
    try begin(method, parameters, more: false)
    return try answer(of: method).parameters
  }

  /// Calls a method with `more` and passes each answer to `each`, until the last or until `each` returns false.
  ///
  /// A caller that stops before the last reply must not use the connection again: later replies belong to that call.
  public func stream<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, each: (Method.Reply) -> Bool
  ) throws(ClientError) {
    try begin(method, parameters, more: true)
    while true {
      let answer = try answer(of: method)
      guard each(answer.parameters), answer.continues else { return }
    }
  }

  /// Calls a method `oneway`: the service never answers, not even with an error.
  ///
  /// When this returns, the kernel has the call, and the service receives it even if the client closes.
  public func send<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters
  ) throws(ClientError) {
    try transmit(Method.name, parameters, flag: #","oneway":true"#)
  }

  /// Calls a method and returns at once; ``nextAnswer(of:)`` returns its answers.
  ///
  /// Use it in a program that waits for several things at once. With `more` the service may answer more than once.
  public func begin<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, more: Bool
  ) throws(ClientError) {
    try transmit(Method.name, parameters, flag: more ? #","more":true"# : "")
  }

  /// The next answer to the call that was begun, and whether more follow; nil if none has arrived.
  ///
  /// Never waits. After nil there is nothing left to read, so wait with poll(2) on ``descriptor`` before the next call.
  /// After ``ClientError/malformed(_:)`` the caller can still read the answers that follow.
  public func nextAnswer<Method: InterfaceMethod>(
    of method: Method.Type
  ) throws(ClientError) -> (parameters: Method.Reply, continues: Bool)? {
    try receive(Method.Reply.self, waits: false)
  }

  /// Waits for the next answer to the call that was begun, and returns whether more follow.
  public func answer<Method: InterfaceMethod>(
    of method: Method.Type
  ) throws(ClientError) -> (parameters: Method.Reply, continues: Bool) {
    guard let answer = try receive(Method.Reply.self, waits: true) else { throw .disconnected }
    return answer
  }

  private func transmit(
    _ method: String, _ parameters: some JSONWritable, flag: StaticString
  ) throws(ClientError) {
    var json = JSONWriter()
    json.literal(#"{"method":"#)
    json.string(method)
    json.literal(#","parameters":"#)
    parameters.write(to: &json)
    json.literal(flag)
    json.literal("}\0")
    guard !json.hasUnwritable else { throw .malformed("cannot write the parameters: a number is infinite or NaN") }
    let bytes = json.bytes
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

  private func receive<Reply: JSONReadable>(
    _ type: Reply.Type, waits: Bool
  ) throws(ClientError) -> (parameters: Reply, continues: Bool)? {
    while true {
      let answer = try input.withNext { message throws(ClientError) in try read(type, from: message) }
      if let answer { return answer }
      guard !input.isOverLimit else {
        // No later answer can be read from the connection.
        shutdown(descriptor, Int32(SHUT_RDWR))
        input = MessageBuffer(limit: Client.answerLimit)
        throw .malformed("it has more than \(Client.answerLimit) bytes")
      }
      let count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { chunk in
        let count = linux_receive(
          descriptor, chunk.baseAddress, chunk.count, waits ? 1 : 0, refusesDescriptors ? 1 : 0)
        if count > 0 { input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
        return count
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN, !waits { return nil }
      guard count > 0 else { throw .disconnected }
    }
  }

  private func read<Reply: JSONReadable>(
    _ type: Reply.Type, from message: UnsafeRawBufferPointer
  ) throws(ClientError) -> (parameters: Reply, continues: Bool) {
    let answer: IncomingAnswer<Reply>
    do throws(JSONError) { answer = try IncomingAnswer(reading: message) } catch { throw .malformed("\(error)") }
    switch answer {
    case .parameters(let parameters, let continues): return (parameters, continues)
    case .error(let name): throw .failed(ErrorReply(name: name, message: Array(message)))
    }
  }
}

/// A reply as the client reads it: parameters of the method's type, or an error.
private enum IncomingAnswer<Parameters: JSONReadable> {
  case parameters(Parameters, continues: Bool)
  /// An error; the caller reads its parameters, because it knows their type.
  case error(name: String)

  init(reading message: UnsafeRawBufferPointer) throws(JSONError) {
    var json = JSONReader(message)
    var seen: UInt64 = 0
    var start: Int?
    var continues = false
    var error: String?
    try json.beginObject()
    while try json.nextKey() {
      if json.keyIs("parameters") {
        try json.once(&seen, 0)
        start = json.position
        try json.skip()
      } else if json.keyIs("continues") {
        try json.once(&seen, 1)
        continues = try json.optional(Bool.self) ?? false
      } else if json.keyIs("error") {
        try json.once(&seen, 2)
        error = try json.optional(String.self)
      } else {
        try json.skip()
      }
    }
    try json.end()
    if let error {
      self = .error(name: error)
      return
    }
    var parameters = JSONReader(message, from: start ?? 0)
    if start != nil, let value = try parameters.optional(Parameters.self) {
      self = .parameters(value, continues: continues)
    } else {
      self = .parameters(try .empty(), continues: continues)
    }
  }
}

extension JSONReadable {
  /// The value of absent parameters, which are an empty object.
  static func empty() throws(JSONError) -> Self { try Self(jsonText: Array("{}".utf8)) }
}

/// The reason why a call has no usable answer.
public enum ClientError: Error, CustomStringConvertible {
  /// No service listens on the socket, or the caller may not connect.
  case unreachable(SocketError)
  /// The connection ended before the answer.
  case disconnected
  /// The call or its answer does not match the method's types, with the reason.
  case malformed(String)
  /// The service answered with an error.
  case failed(ErrorReply)

  /// A description for a person.
  public var description: String {
    switch self {
    case .unreachable(let error): error.description
    case .disconnected: "cannot get an answer: the service closed the connection; its journal may say why"
    case .malformed(let reason): "cannot read the answer: \(reason)"
    case .failed(let reply): "cannot do this: the service answered \(reply.name)"
    }
  }
}

/// The error in a service's answer.
public struct ErrorReply: Sendable {
  /// The whole name, such as `org.refreshd.NoSuchApp`.
  public let name: String
  let message: [UInt8]

  /// The parameters, in the type that belongs to the name.
  public func parameters<Parameters: JSONReadable>(as type: Parameters.Type) throws(ClientError) -> Parameters {
    do throws(JSONError) {
      return try ErrorMessage<Parameters>(jsonText: message).parameters
    } catch {
      throw .malformed("\(error)")
    }
  }
}

private struct ErrorMessage<Parameters: JSONReadable>: JSONReadable {
  let parameters: Parameters

  init(from json: inout JSONReader) throws(JSONError) {
    var parameters: Parameters?
    var seen: UInt64 = 0
    try json.beginObject()
    while try json.nextKey() {
      guard json.keyIs("parameters") else {
        try json.skip()
        continue
      }
      try json.once(&seen, 0)
      parameters = try json.optional(Parameters.self)
    }
    // An error without parameters may leave them out.
    if let parameters { self.parameters = parameters } else { self.parameters = try .empty() }
  }
}
