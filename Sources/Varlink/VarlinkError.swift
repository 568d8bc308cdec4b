/// An error that an interface declares: its name, and its parameters as an encodable value.
///
/// The name is whole, such as `org.refreshd.App.NoSuchApp`. <https://varlink.org/Interface-Definition>.
public protocol VarlinkError: Error, Encodable {
  /// The name on the wire, with the interface before it.
  static var name: String { get }
}

/// No interface of this name is served here.
public struct InterfaceNotFound: VarlinkError, Codable, Equatable {
  /// The name on the wire.
  public static let name = "org.varlink.service.InterfaceNotFound"
  /// The interface that was asked for.
  public let interface: String

  /// An error about the interface that was asked for.
  public init(interface: String) {
    self.interface = interface
  }
}

/// The interface has no such method.
public struct MethodNotFound: VarlinkError, Codable, Equatable {
  /// The name on the wire.
  public static let name = "org.varlink.service.MethodNotFound"
  /// The method that was called, with its interface before it.
  public let method: String

  /// An error about the method that was called.
  public init(method: String) {
    self.method = method
  }
}

/// The interface has the method, but this service does not serve it, or gave no answer.
public struct MethodNotImplemented: VarlinkError, Codable, Equatable {
  /// The name on the wire.
  public static let name = "org.varlink.service.MethodNotImplemented"
  /// The method that was called, with its interface before it.
  public let method: String

  /// An error about the method that was called.
  public init(method: String) {
    self.method = method
  }
}

/// A parameter is missing, of the wrong type, or has a value that the method does not take.
public struct InvalidParameter: VarlinkError, Codable, Equatable {
  /// The name on the wire.
  public static let name = "org.varlink.service.InvalidParameter"
  /// The parameter, with the way to it where it is inside another: `apps[2].id`.
  public let parameter: String

  /// An error about the parameter of this name.
  public init(parameter: String) {
    self.parameter = parameter
  }
}

/// The method answers more than once, and the call did not say `more`.
public struct ExpectedMore: VarlinkError, Codable, Equatable {
  /// The name on the wire, as systemd's Varlink has it.
  public static let name = "org.varlink.service.ExpectedMore"

  /// The error has no parameters.
  public init() {}
}

/// The caller may not call this method.
public struct PermissionDenied: VarlinkError, Codable, Equatable {
  /// The name on the wire, as systemd's Varlink has it.
  public static let name = "org.varlink.service.PermissionDenied"

  /// The error has no parameters.
  public init() {}
}

extension InvalidParameter {
  /// Names the parameter that a decoding error is about, by its path; that of a call's begins below `parameters`.
  init(_ error: DecodingError, pathBegins start: Int = 1) {
    let path: [any CodingKey]
    switch error {
    case .keyNotFound(let key, let context): path = context.codingPath + [key]
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      path = context.codingPath
    @unknown default: path = []
    }
    var name = ""
    for key in path.dropFirst(start) {
      if let index = key.intValue {
        name += "[\(index)]"
      } else {
        name += name.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    self.init(parameter: name.isEmpty ? "parameters" : name)
  }
}
