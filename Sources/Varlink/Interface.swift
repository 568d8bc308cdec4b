import JSON

/// An interface that a server serves: its name, its description and the handlers of its methods.
public struct Interface {
  /// The name in reverse-DNS form, such as `org.refreshd.App`.
  public let name: String
  /// The text of the `.varlink` file, served by `org.varlink.service.GetInterfaceDescription`.
  public let description: String
  private(set) var methods: [ServedMethod] = []

  /// Makes an interface without handlers; the reply to an unserved method is `MethodNotImplemented`.
  public init(_ declaration: (some InterfaceDeclaration).Type) {
    name = declaration.name
    description = declaration.description
  }

  /// Adds the handler of a method.
  ///
  /// The handler runs on the server's thread, one call of a connection at a time. It may keep the call and reply later.
  /// Absent or null `parameters` are an empty object. If the parameters cannot be read, the reply is `InvalidParameter`,
  /// and the handler does not run.
  ///
  /// `kind` says what a call demands of the server: a change by default.
  public mutating func serve<Method: InterfaceMethod>(
    _ method: Method.Type, as kind: MethodKind = .change, _ handler: @escaping (Call<Method.Parameters>) -> Void
  ) {
    methods.append(
      ServedMethod(name: Method.name, kind: kind) { (json) throws(JSONError) in
        let parameters = try Method.Parameters(from: &json)
        return { state in handler(Call(parameters: parameters, state: state)) }
      })
  }

  /// Whether the description contains the method, served or not.
  fileprivate func describes(_ method: String) -> Bool {
    description.split(separator: "\n").contains { line in
      let line = line.drop { $0 == " " || $0 == "\t" }
      guard line.hasPrefix("method ") else { return false }
      let rest = line.dropFirst("method ".count).drop { $0 == " " }
      return rest.hasPrefix(method) && rest.dropFirst(method.count).first.map { $0 == "(" || $0 == " " } == true
    }
  }
}

/// A method with an erased parameter type: it reads parameters and returns a handler with them.
///
/// ``IncomingCall`` prepares the handler, and ``Server/run(_:_:)`` runs it.
final class ServedMethod {
  typealias Prepare = (inout JSONReader) throws(JSONError) -> (CallState) -> Void

  /// The whole name.
  let name: String
  let kind: MethodKind
  let prepare: Prepare

  init(name: String, kind: MethodKind, _ prepare: @escaping Prepare) {
    self.name = name
    self.kind = kind
    self.prepare = prepare
  }
}

/// The parameters of a method or reply that has none.
public struct NoParameters: JSONReadable, JSONWritable, Sendable, Hashable {
  /// Makes the value.
  public init() {}

  /// Reads any object; skips members that a later version adds.
  public init(from json: inout JSONReader) throws(JSONError) {
    try json.beginObject()
    while try json.nextKey() { try json.skip() }
  }

  /// Writes an empty object.
  public func write(to json: inout JSONWriter) { json.literal("{}") }
}

/// All methods of all interfaces of a server, by their full names.
struct MethodTable {
  private(set) var interfaces: [String: Interface] = [:]
  private var methods: [String: ServedMethod] = [:]

  init(_ interfaces: [Interface]) {
    for interface in interfaces {
      self.interfaces[interface.name] = interface
      for method in interface.methods { methods[method.name] = method }
    }
  }

  subscript(method: String) -> ServedMethod? { methods[method] }

  /// The error for a method that is not in the table.
  func whyNot(_ method: String) -> any VarlinkError {
    guard let dot = method.lastIndex(of: ".") else { return InterfaceNotFound(interface: method) }
    guard let interface = interfaces[String(method[..<dot])] else {
      return InterfaceNotFound(interface: String(method[..<dot]))
    }
    return interface.describes(String(method[method.index(after: dot)...]))
      ? MethodNotImplemented(method: method) : MethodNotFound(method: method)
  }
}

/// An interface as declared in its file; the plugin VarlinkSwift generates the type.
public protocol InterfaceDeclaration {
  /// The name in reverse-DNS form, such as `org.refreshd.App`.
  static var name: String { get }
  /// The text of the file, which introspection returns.
  static var description: String { get }
}

/// A method of an interface for client and server: its name on the socket, its parameters and its reply.
public protocol InterfaceMethod: SendableMetatype {
  /// The parameters of a call.
  associatedtype Parameters: JSONReadable & JSONWritable & Hashable & Sendable
  /// A reply; with `more` there may be several.
  associatedtype Reply: JSONReadable & JSONWritable & Hashable & Sendable
  /// The whole name on the socket, such as `org.refreshd.Manager.Show`.
  static var name: String { get }
}

/// An error that an interface declares, with its parameters.
///
/// The name is complete, such as `org.refreshd.App.NotLeasable`. <https://varlink.org/Interface-Definition>.
public protocol VarlinkError: Error, JSONReadable, JSONWritable {
  /// The name on the socket, prefixed with the interface.
  static var name: String { get }
}

/// What a method's calls demand of the server, which limits how many a user may have under way.
public enum MethodKind: Sendable {
  /// The call changes something, so it runs even if the answer has no receiver.
  case change
  /// The call only asks: it does not run if the caller is gone or wants no answer (`oneway`).
  case query
  /// The call takes long: a user has one under way, and the user's other work waits.
  case work
  /// The call reports events until its connection ends; a user may have ``Bounds/watchesPerUser``.
  ///
  /// Until its first answer it counts as work.
  case watch

  /// Whether the handler has nothing to do if the answer has no receiver.
  var isPointlessWithoutReader: Bool { self != .change }
  var isWork: Bool { self == .work || self == .watch }
}
