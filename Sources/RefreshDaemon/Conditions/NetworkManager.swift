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

/// The network by NetworkManager (D-Bus reference of `org.freedesktop.NetworkManager`).
///
/// Follows the primary connection to its device and, on Wi-Fi, to its access point. Reads their names only once, because
/// a watched access point sends its signal strength every few seconds.
final class NetworkManager {
  static let name = "NetworkManager"
  private static let service = "org.freedesktop.NetworkManager"

  private let bus: Bus
  private let onChange: (NetworkManager) -> Void
  private let manager: BusObject
  private var connection: Followed<BusObject>?
  private var device: Followed<BusReply>?
  private var accessPoint: Followed<BusReply>?

  /// Starts to watch; calls `onChange` after every change of ``answer``.
  init(on bus: Bus, onChange: @escaping (NetworkManager) -> Void) throws(SystemdError) {
    (self.bus, self.onChange) = (bus, onChange)
    manager = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/NetworkManager", interface: Self.service,
      wanted: ["State", "Connectivity", "Metered", "PrimaryConnection", "PrimaryConnectionType"], on: bus)
    manager.onChange = { [unowned self] in follow() }
  }

  var answer: ConditionAnswer<Network> {
    ConditionAnswer(manager.state) { properties in
      let values = Properties(properties)
      guard values.primaryConnection != nil else { return values.answer(interface: "", ssid: nil) }
      let details = [connection?.value.isUnanswered, device?.value.isUnanswered, accessPoint?.value.isUnanswered]
      if details.contains(true) { return .awaited }
      return values.answer(
        interface: device?.value.value?.text ?? "",
        ssid: accessPoint?.value.value?.bytes.map { String(decoding: $0, as: UTF8.self) })
    }
  }

  /// Follows the manager to the connection, its device and its access point, as far as they are known.
  private func follow() {
    defer { onChange(self) }
    guard case .known(let properties) = manager.state, let path = Properties(properties).primaryConnection else {
      (connection, device, accessPoint) = (nil, nil, nil)
      return
    }
    if connection?.path != path {
      (device, accessPoint) = (nil, nil)
      connection = watch(connectionAt: path)
    }
    guard let connection, case .known(let parts) = connection.value.state else { return }
    let devicePath = parts["Devices"]?.elements?.first?.text
    if device?.path != devicePath {
      // The interface that carries the packets: for a modem it is ppp0, not the device itself.
      device = devicePath.map { read("IpInterface", of: "\(Self.service).Device", at: $0) }
    }
    // On Wi-Fi the specific object is the access point; the path / means none.
    let isWifi = Properties(properties).medium == .wifi
    let pointPath = isWifi ? parts["SpecificObject"]?.text.flatMap { $0 == "/" ? nil : $0 } : nil
    if accessPoint?.path != pointPath {
      accessPoint = pointPath.map { read("Ssid", of: "\(Self.service).AccessPoint", at: $0) }
    }
  }

  private func watch(connectionAt path: String) -> Followed<BusObject>? {
    // If the loop has no room for a timer, the interface and the SSID stay unknown, and `status` shows none. The journal is
    // not written to here: the daemon is out of memory then, and its other sources say so.
    guard
      let object = try? BusObject(
        Self.service, called: Self.name, path: path, interface: "\(Self.service).Connection.Active",
        wanted: ["Devices", "SpecificObject"], on: bus)
    else { return nil }
    object.onChange = manager.onChange
    return Followed(path: path, value: object)
  }

  private func read(_ property: String, of interface: String, at path: String) -> Followed<BusReply> {
    Followed(
      path: path,
      value: BusReply(to: .get(property, of: interface, at: path, in: Self.service), on: bus) { [unowned self] in
        onChange(self)
      })
  }
}

/// An object that was found by its path.
private struct Followed<Value> {
  let path: String
  let value: Value
}

/// The reply to one call; `value` stays nil if the call fails.
private final class BusReply {
  private(set) var isUnanswered = true
  private(set) var value: BusValue?
  private var call: BusCall?

  init(to method: BusMethod, on bus: Bus, then: @escaping () -> Void) {
    call = bus.call(method) { [unowned self] answer in
      isUnanswered = false
      if case .success(let values) = answer { value = values.first }
      then()
    }
  }
}

extension BusObject {
  fileprivate var isUnanswered: Bool { state == .asked }
}

extension NetworkManager {
  /// The properties of the manager (`NMState`, `NMConnectivityState`, `NMMetered`).
  struct Properties {
    var state: Int?
    var connectivity: Int?
    var metered: Int?
    /// The kind of the connection that carries the default route, such as `802-11-wireless`.
    var type: String
    var primaryConnection: String?

    init(_ properties: [String: BusValue]) {
      state = properties["State"]?.integer
      connectivity = properties["Connectivity"]?.integer
      metered = properties["Metered"]?.integer
      type = properties["PrimaryConnectionType"]?.text ?? ""
      primaryConnection = properties["PrimaryConnection"]?.text.flatMap { $0 == "/" ? nil : $0 }
    }

    /// The reach of the network; nil when NetworkManager does not know.
    ///
    /// Below `NM_STATE_CONNECTED_LOCAL` (50) nothing is connected. From there on the connectivity check decides. If the
    /// check is off, `NM_STATE_CONNECTED_GLOBAL` (70) counts as the internet.
    var reach: Network.Reach? {
      guard let state, state != 0 else { return nil }
      guard state >= 50 else { return .offline }
      return switch connectivity {
      case 4: .full
      case 2: .portal
      case 1, 3: .limited
      default: state >= 70 ? .full : .limited
      }
    }

    /// Whether networking is on but nothing is connected (`NM_STATE_DISCONNECTED`).
    var isDisconnected: Bool { state == 20 }

    /// The value of `Metered`.
    var meteredAnswer: Network.Metered {
      switch metered {
      case 1: .yes
      case 2: .no
      case 3: .guessYes
      case 4: .guessNo
      default: .unknown
      }
    }

    /// The medium that carries the default route.
    var medium: Network.Medium? {
      switch type {
      case "": nil
      case "802-3-ethernet", "pppoe", "adsl": .wired
      case "802-11-wireless": .wifi
      case "gsm", "cdma": .cellular
      default: .other
      }
    }

    func answer(interface: String, ssid: String?) -> ConditionAnswer<Network> {
      guard let reach else { return .silent("NetworkManager does not know its own state") }
      return .known(
        Network(reach: reach, metered: meteredAnswer, medium: medium, interface: interface, ssid: ssid),
        without: connectivity == 0 && reach == .full ? "connectivity is not checked" : nil)
    }
  }

  /// Whether NetworkManager runs and reports that nothing is connected.
  var isDisconnected: Bool {
    guard case .known(let properties) = manager.state else { return false }
    return Properties(properties).isDisconnected
  }
}
