import CSystemd

/// The error of a failed call on the bus.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The D-Bus name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public var name: String
  /// The message of the service, a sentence.
  public var message: String

  /// Makes an error from its parts.
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

  /// Whether the called name has no owner.
  ///
  /// Calls that may start the service fail with the first name, calls that may not with the second.
  public var isNobodyThere: Bool {
    name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
  }

  /// Whether there was no reply, so that the call may or may not have taken effect.
  public var isWithoutAnswer: Bool {
    ["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout", "System.Error"].contains(name)
  }

  /// The message of the service, or else the name of the error.
  public var description: String { message.isEmpty ? name : message }
}
