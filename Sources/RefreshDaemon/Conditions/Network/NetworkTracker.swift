import RefreshEngine
import Systemd

/// The network, from NetworkManager, else systemd-networkd, else the kernel.
final class NetworkTracker: FactTracker {
  private let manager: NetworkManager
  private let networkd: Networkd
  private let routes: FallbackSource<Routes>

  static func observation(_ reading: Reading<Network>) -> Observation { .network(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    let routes = FallbackSource<Routes> { () throws(SystemdError) in
      try Routes(on: context.loop, devices: context.settings.networkDevices, onChange: onChange)
    }
    self.routes = routes
    manager = try NetworkManager(on: context.bus) { manager in
      routes.watch(manager.needsRoutes)
      onChange()
    }
    networkd = try Networkd(on: context.bus)
    networkd.object.onChange = onChange
    routes.watch(manager.needsRoutes)
  }

  var sources: [ConditionSource<Network>] {
    [
      ConditionSource(NetworkManager.name, managerAnswer),
      ConditionSource(Networkd.name, networkd.answer(route: routes.source?.route)),
      ConditionSource(Routes.name, routes.answer),
    ]
  }

  /// The answer of NetworkManager, unless it reports no connection while the kernel has a route.
  ///
  /// NetworkManager is then installed, but another program manages the network.
  private var managerAnswer: ConditionAnswer<Network> {
    guard manager.isDisconnected, let route = routes.source?.route else { return manager.answer }
    return .silent("NetworkManager does not manage \(route.interface)")
  }
}

extension NetworkManager {
  /// Whether the kernel's routes must answer in its place.
  fileprivate var needsRoutes: Bool { isDisconnected || answer.isMissing }
}
