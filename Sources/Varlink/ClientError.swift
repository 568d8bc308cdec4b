import JSON

/// The reason why a call has no usable answer.
public enum ClientError: Error, CustomStringConvertible {
  /// Nobody listens on the socket, or the caller may not connect.
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
