import RefreshEngine
import Systemd

/// systemd-networkd's word on how far the network reaches (org.freedesktop.network1(5)).
///
/// It knows neither the internet nor what traffic costs; the route that the kernel would take says through what.
final class Networkd {
  static let name = "systemd-networkd"

  /// Called after every change of what it says.
  var onChange: () -> Void {
    get { manager.onChange }
    set { manager.onChange = newValue }
  }

  private let manager: BusObject

  init(on bus: Bus) throws(SystemdError) {
    manager = try BusObject(
      "org.freedesktop.network1", called: Self.name, path: "/org/freedesktop/network1",
      interface: "org.freedesktop.network1.Manager", wanted: ["OperationalState"], on: bus)
  }

  /// What it says now, given the route to the internet.
  func testimony(route: Route?) -> Testimony<Network> {
    Testimony(manager.state) { properties in
      Self.testimony(operational: properties["OperationalState"]?.text, route: route)
    }
  }

  /// Reads `OperationalState` (networkctl(1), "OPERATIONAL"): `routable` has an address for more than the link,
  /// `degraded` only one for the link; no other can talk.
  static func testimony(operational: String?, route: Route?) -> Testimony<Network> {
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
