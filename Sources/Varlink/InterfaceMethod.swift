import JSON

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
