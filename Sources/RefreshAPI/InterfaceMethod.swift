/// One method of an interface: its name on the socket and what goes in and out, for client and daemon alike.
public protocol InterfaceMethod {
  /// What the method is called with.
  associatedtype Parameters: Codable & Hashable & Sendable
  /// What the method answers, once or, with `more`, several times.
  associatedtype Reply: Codable & Hashable & Sendable
  /// The whole name on the socket, such as `org.refreshd.Manager.Show`.
  static var name: String { get }
}
