import Systemd

/// systemd-logind on the bus (org.freedesktop.login1(5)).
enum Logind {
  static let name = "systemd-logind"
  static let service = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let interface = "org.freedesktop.login1.Manager"

  /// A signal of the manager.
  static func signal(_ name: String) -> BusSignal {
    BusSignal(service, path: path, interface: interface, name: name)
  }

  /// A method of the manager.
  static func call(_ name: String) -> BusMethod {
    BusMethod(service, path: path, interface: interface, name: name)
  }
}
