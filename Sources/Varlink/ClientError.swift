import FoundationEssentials

/// Why a call has no answer that can be used.
public enum ClientError: Error, CustomStringConvertible {
  /// Nobody listens on the socket, or the caller may not connect.
  case unreachable(SocketError)
  /// The connection ended before the answer.
  case disconnected
  /// The call or its answer is not what the method's types say, with the reason.
  case malformed(String)
  /// The service answered with an error.
  case failed(ErrorReply)

  /// What happened, for a person.
  public var description: String {
    switch self {
    case .unreachable(let error): error.description
    case .disconnected: "cannot get an answer: the service closed the connection; its journal may say why"
    case .malformed(let reason): "cannot read the answer: \(reason)"
    case .failed(let reply): "cannot do this: the service answered \(reply.name)"
    }
  }
}

/// An error that a service answered with.
public struct ErrorReply: Sendable {
  /// The whole name, such as `org.refreshd.App.NoSuchApp`.
  public let name: String
  let message: [UInt8]

  /// The parameters as the type that goes with the name.
  public func parameters<Parameters: Decodable>(as type: Parameters.Type) throws(ClientError) -> Parameters {
    do {
      return try JSONDecoder().decode(ErrorMessage<Parameters>.self, from: Data(message)).parameters
    } catch {
      throw .malformed(String(describing: error))
    }
  }
}

private struct ErrorMessage<Parameters: Decodable>: Decodable {
  let parameters: Parameters

  private enum Key: String, CodingKey {
    case parameters
  }

  init(from decoder: any Decoder) throws {
    let message = try decoder.container(keyedBy: Key.self)
    if let parameters = try message.decodeIfPresent(Parameters.self, forKey: .parameters) {
      self.parameters = parameters
    } else {
      // An error without parameters may leave them out.
      self.parameters = try JSONDecoder().decode(Parameters.self, from: Data("{}".utf8))
    }
  }
}
