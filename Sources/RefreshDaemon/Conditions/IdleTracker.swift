import RefreshEngine
import Systemd

/// Whether nobody has touched the machine for a while, from systemd-logind (FEATURES D3).
///
/// Desktops tell logind when their user is idle, and it says of the machine that it is idle when all sessions are, or
/// when there is none (org.freedesktop.login1(5), `IdleHint`). A user's daemon asks for that user alone.
final class IdleTracker: FactTracker {
  /// Called after every change of what the source says.
  var onChange: () -> Void = {}

  private let object: BusObject
  private var inhibited: BusValue?
  private var sessions: [BusListener] = []

  /// Begins to watch, for the user with the id `user`, or for the machine.
  init(on bus: Bus, user: UInt32?) throws(SystemdError) {
    object = try BusObject(
      Logind.service, called: Logind.name, path: user.map { "\(Logind.path)/user/_\($0)" } ?? Logind.path,
      interface: user == nil ? Logind.interface : "org.freedesktop.login1.User",
      wanted: ["IdleHint", "BlockInhibited"], on: bus)
    object.onChange = { [unowned self] in changed() }
    // A session that comes or goes changes the hint without a word of its own, and so does an inhibitor.
    sessions = ["SessionNew", "SessionRemoved"].map { name in
      bus.listen(to: Logind.signal(name)) { [unowned self] _ in object.ask() }
    }
  }

  private func changed() {
    if case .known(let properties) = object.state, properties["BlockInhibited"] != inhibited {
      inhibited = properties["BlockInhibited"]
      object.ask()
    }
    onChange()
  }

  /// Who is asked, and what it says.
  var witnesses: [Witness<Bool>] {
    let testimony = Testimony<Bool>(object.state) { properties in
      properties["IdleHint"]?.boolean.map { .known($0) } ?? .silent("systemd-logind has no IdleHint")
    }
    return [Witness(Logind.name, testimony)]
  }
}

/// systemd-logind on the bus (org.freedesktop.login1(5)).
enum Logind {
  static let name = "systemd-logind"
  static let service = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let interface = "org.freedesktop.login1.Manager"

  /// A signal of its manager.
  static func signal(_ name: String) -> BusSignal {
    BusSignal(service, path: path, interface: interface, name: name)
  }

  /// A call of its manager.
  static func call(_ name: String) -> BusMethod {
    BusMethod(service, path: path, interface: interface, name: name)
  }
}
