import CSystemd

/// Why a call on the bus was not answered with what was asked for.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The D-Bus name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public var name: String
  /// What the other end said, a sentence.
  public var message: String

  /// Makes an error of its parts.
  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  init(_ error: sd_bus_error) {
    self.init(
      name: error.name.map { String(cString: $0) } ?? "", message: error.message.map { String(cString: $0) } ?? "")
  }

  init(_ error: SystemdError) {
    self.init(name: "System.Error", message: error.description)
  }

  /// Whether nobody has the name that was called.
  ///
  /// The first is the answer to a call that may start the service, the second to one that may not.
  public var isNobodyThere: Bool {
    name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
  }

  /// What the other end said, or else the name of the error.
  public var description: String { message.isEmpty ? name : message }
}
