import RefreshEngine
import Systemd

/// The network, from NetworkManager, else systemd-networkd, else the kernel (FEATURES D1).
final class NetworkTracker: FactTracker {
  /// Called after every change of what a source says.
  var onChange: () -> Void = {}

  private let loop: EventLoop
  private let devices: String
  private let manager: NetworkManager
  private let networkd: Networkd
  private var routes: Routes?
  private var routesProblem = ""

  init(on bus: Bus, loop: EventLoop, devices: String) throws(SystemdError) {
    self.loop = loop
    self.devices = devices
    manager = try NetworkManager(on: bus)
    networkd = try Networkd(on: bus)
    manager.onChange = { [unowned self] in look() }
    networkd.onChange = { [unowned self] in look() }
    watchRoutesIfNeeded()
  }

  /// Who is asked, best first, and what each says.
  var witnesses: [Witness<Network>] {
    let routes: Testimony<Network> =
      isRouteOfNoInterest ? .awaited : self.routes?.testimony ?? .silent(routesProblem)
    return [
      Witness(NetworkManager.name, managerTestimony),
      Witness(Networkd.name, networkd.testimony(route: self.routes?.route)),
      Witness(Routes.name, routes),
    ]
  }

  /// What NetworkManager says, unless it says that nothing is connected while the kernel has a route: it is installed,
  /// and the network is somebody else's.
  private var managerTestimony: Testimony<Network> {
    guard manager.isDisconnected, let route = routes?.route else { return manager.testimony }
    return .silent("NetworkManager does not manage \(route.interface)")
  }

  /// Whether NetworkManager knows, so that the kernel need not wake the daemon for every route.
  private var isRouteOfNoInterest: Bool {
    switch manager.testimony {
    case .known: !manager.isDisconnected
    case .awaited: true
    case .absent, .silent: false
    }
  }

  private func look() {
    watchRoutesIfNeeded()
    onChange()
  }

  private func watchRoutesIfNeeded() {
    guard !isRouteOfNoInterest else {
      routes = nil
      return
    }
    guard routes == nil else { return }
    do throws(SystemdError) {
      routes = try Routes(on: loop, devices: devices)
      routes?.onChange = { [unowned self] in onChange() }
    } catch {
      routesProblem = error.description
    }
  }
}
