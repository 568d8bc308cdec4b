import Glibc

/// The address of a message bus (D-Bus specification, "Server Addresses").
public struct BusAddress: Hashable, Sendable {
  /// The address, such as `unix:path=/run/dbus/system_bus_socket`.
  public let text: String
  /// The name of the bus for people: `system bus`.
  public let name: String

  /// Makes an address.
  public init(_ text: String, name: String) {
    self.text = text
    self.name = name
  }

  /// The bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, else the address in the specification.
  public static var system: BusAddress {
    BusAddress(variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket", name: "system bus")
  }

  /// The bus of the user: `DBUS_SESSION_BUS_ADDRESS`, else the address that systemd uses.
  public static var user: BusAddress {
    let runtime = variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
    return BusAddress(variable("DBUS_SESSION_BUS_ADDRESS") ?? "unix:path=\(runtime)/bus", name: "user bus")
  }

  /// Whether no socket exists at the address; false for an address that is no path.
  var isVacant: Bool {
    guard text.hasPrefix("unix:path=") else { return false }
    let path = text.dropFirst("unix:path=".count).prefix { $0 != "," && $0 != ";" }
    return access(String(path), F_OK) != 0
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}
