import RefreshEngine
import Systemd

/// The reach of the network by systemd-networkd (org.freedesktop.network1(5)).
///
/// systemd-networkd knows neither whether the internet answers nor whether traffic is metered. The interface comes from
/// the kernel's route.
struct Networkd {
  static let name = "systemd-networkd"

  /// The manager of systemd-networkd on the bus.
  let object: BusObject

  init(on bus: Bus) throws(SystemdError) {
    object = try BusObject(
      "org.freedesktop.network1", called: Self.name, path: "/org/freedesktop/network1",
      interface: "org.freedesktop.network1.Manager", wanted: ["OperationalState"], on: bus)
  }

  /// The current answer, given the kernel's route to the internet.
  func answer(route: Route?) -> ConditionAnswer<Network> {
    ConditionAnswer(object.state) { Self.answer(operational: $0["OperationalState"]?.text, route: route) }
  }

  /// Reads `OperationalState` (networkctl(1), "OPERATIONAL").
  ///
  /// `routable` has an address that is valid beyond the link, `degraded` only a link-local one. With any other state
  /// there is no connection.
  static func answer(operational: String?, route: Route?) -> ConditionAnswer<Network> {
    switch operational {
    case nil, "", "n/a": return .silent("systemd-networkd does not know its own state")
    case "routable":
      guard let route else { return .known(Network(reach: .limited)) }
      return .known(
        Network(reach: .full, medium: route.medium, interface: route.interface), without: Route.unchecked)
    case "degraded": return .known(Network(reach: .limited, medium: route?.medium, interface: route?.interface ?? ""))
    default: return .known(Network(reach: .offline))
    }
  }
}
