import RefreshEngine
import Systemd

/// The network, from NetworkManager, else systemd-networkd, else the kernel.
final class NetworkTracker: FactTracker {
  var onChange: () -> Void = {}

  private let manager: NetworkManager
  private let networkd: Networkd
  private let routes: FallbackSource<Routes>

  static func observation(_ reading: Reading<Network>) -> Observation { .network(reading) }

  init(in context: TrackerContext) throws(SystemdError) {
    manager = try NetworkManager(on: context.bus)
    networkd = try Networkd(on: context.bus)
    routes = FallbackSource { () throws(SystemdError) in
      try Routes(on: context.loop, devices: context.settings.networkDevices)
    }
    manager.onChange = { [unowned self] in look() }
    networkd.object.onChange = { [unowned self] in look() }
    routes.onChange = { [unowned self] in onChange() }
    watchRoutesIfNeeded()
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

  private func look() {
    watchRoutesIfNeeded()
    onChange()
  }

  private func watchRoutesIfNeeded() {
    routes.watch(manager.isDisconnected || manager.answer.isMissing)
  }
}
