import FoundationEssentials

/// One interface that a server serves: its name, its description and its methods.
public struct Interface {
  /// The name in reverse-DNS form, such as `org.refreshd.App`.
  public let name: String
  /// The text of the `.varlink` file, served by `org.varlink.service.GetInterfaceDescription`.
  public let description: String
  private(set) var methods: [String: DeclaredMethod] = [:]

  /// An interface without methods yet; what `description` has and `method` never declares is `MethodNotImplemented`.
  public init(_ name: String, description: String) {
    self.name = name
    self.description = description
  }

  /// Serves one method with typed parameters.
  ///
  /// The handler runs on the server's thread, one call of a connection at a time. It may keep the call and answer later.
  /// An absent or null `parameters` decodes like an empty object; parameters that do not decode are answered with
  /// `InvalidParameter` before the handler runs, or with the error itself where their `init(from:)` throws a
  /// ``VarlinkError``.
  public mutating func method<Parameters: Decodable>(
    _ name: String, _ handler: @escaping (Call<Parameters>) -> Void
  ) {
    methods[name] = DeclaredMethod { message in
      let parameters = try decodeParameters(Parameters.self, from: message)
      return { exchange in handler(Call(parameters: parameters, exchange: exchange)) }
    }
  }

  /// Whether the description has the method, served or not.
  func describes(_ method: String) -> Bool {
    description.split(separator: "\n").contains { line in
      let line = line.drop { $0 == " " || $0 == "\t" }
      guard line.hasPrefix("method ") else { return false }
      let rest = line.dropFirst("method ".count).drop { $0 == " " }
      return rest.hasPrefix(method) && rest.dropFirst(method.count).first.map { $0 == "(" || $0 == " " } == true
    }
  }
}

/// A method with its parameter type forgotten: parameters in, something to run out.
struct DeclaredMethod {
  let prepare: (KeyedDecodingContainer<IncomingCall.Key>) throws -> (Exchange) -> Void
}

private func decodeParameters<Parameters: Decodable>(
  _ type: Parameters.Type, from message: KeyedDecodingContainer<IncomingCall.Key>
) throws -> Parameters {
  if let parameters = try message.decodeIfPresent(type, forKey: .parameters) { return parameters }
  do {
    return try JSONDecoder().decode(Parameters.self, from: emptyObject)
  } catch let error as DecodingError {
    throw InvalidParameter(error, pathBegins: 0)
  }
}

/// What absent parameters decode like.
let emptyObject = Data("{}".utf8)

/// No parameters: of a method that takes none, or an answer that has nothing to tell.
public struct NoParameters: Codable, Sendable, Equatable {
  /// There is nothing to set.
  public init() {}

  /// Takes any object: what a later version adds is passed over.
  public init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: NoKeys.self)
  }

  private enum NoKeys: CodingKey {}
}

/// All methods of all interfaces of a server by their whole names.
struct MethodTable {
  private(set) var interfaces: [String: Interface] = [:]
  private var methods: [String: DeclaredMethod] = [:]

  init(_ interfaces: [Interface]) {
    for interface in interfaces {
      self.interfaces[interface.name] = interface
      for (name, method) in interface.methods {
        methods["\(interface.name).\(name)"] = method
      }
    }
  }

  subscript(method: String) -> DeclaredMethod? { methods[method] }

  /// Why a method that is not in the table cannot be called.
  func whyNot(_ method: String) -> any VarlinkError {
    guard let dot = method.lastIndex(of: ".") else { return InterfaceNotFound(interface: method) }
    guard let interface = interfaces[String(method[..<dot])] else {
      return InterfaceNotFound(interface: String(method[..<dot]))
    }
    return interface.describes(String(method[method.index(after: dot)...]))
      ? MethodNotImplemented(method: method) : MethodNotFound(method: method)
  }
}
