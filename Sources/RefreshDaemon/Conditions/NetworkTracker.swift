import CLinux
import Glibc
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

/// The interface that a packet to the internet would leave by.
struct Route: Hashable, Sendable {
  /// The part of the fact that a route alone does not show.
  static let unchecked = "connectivity is not checked"

  var interface: String
  var medium: Network.Medium
}

/// The network by the kernel: whether there is a route to the internet (rtnetlink(7)).
///
/// The question to the kernel is where a packet to a given address would go, so policy rules and the routing tables of
/// tunnels count. The kernel sends an event when a link or a route changes; nothing is polled.
final class Routes: AnswerSource {
  static let name = "rtnetlink"

  /// The addresses of a DNS root server, which do not change; nothing is ever sent to them.
  private static let addresses: [(family: Int32, bytes: [UInt8])] = [
    (AF_INET, [198, 41, 0, 4]),
    (AF_INET6, [0x20, 0x01, 0x05, 0x03, 0xba, 0x3e, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x30]),
  ]

  private let onChange: () -> Void
  /// The route now; nil if there is none.
  private(set) var route: Route?
  /// The reason why the route is not known.
  private(set) var problem: String?

  private let devices: String
  private let descriptor: Int32
  private var source: IOSource?

  /// Starts to watch; calls `onChange` after every change of ``answer``.
  ///
  /// `devices` is the kernel's directory of network devices, `/sys/class/net`.
  init(on loop: EventLoop, devices: String, onChange: @escaping () -> Void) throws(SystemdError) {
    (self.devices, self.onChange) = (devices, onChange)
    descriptor = linux_route_events()
    guard descriptor >= 0 else { throw SystemdError(cannot: "watch the kernel's routes", code: errno) }
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in receiveEvents() }
    look()
  }

  deinit {
    source?.cancel()
    close(descriptor)
  }

  var answer: ConditionAnswer<Network> {
    if let problem { return .silent(problem) }
    guard let route else { return .known(Network(reach: .offline)) }
    return .known(Network(reach: .full, medium: route.medium, interface: route.interface), without: Route.unchecked)
  }

  private func receiveEvents() {
    // The contents do not matter, and neither do lost events (ENOBUFS): look() asks the kernel again.
    withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
      var left = 64
      while left > 0, linux_receive(descriptor, buffer.baseAddress, buffer.count, 0, 1) > 0 { left -= 1 }
    }
    let before = (route, problem)
    look()
    if before != (route, problem) { onChange() }
  }

  private func look() {
    (route, problem) = (nil, nil)
    for (family, bytes) in Self.addresses {
      let index = linux_route_to(family, bytes, Int32(bytes.count))
      if index < 0, errno != EAFNOSUPPORT {
        problem = SystemCallError(attempt: "ask for a route", code: errno).description
      }
      guard index > 0, let interface = runningInterface(index) else { continue }
      route = Route(interface: interface, medium: medium(of: interface))
      problem = nil
      return
    }
  }

  private func runningInterface(_ index: Int32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { name in
      var runs: Int32 = 0
      guard linux_interface(index, name.baseAddress, &runs) == 0, runs != 0, let start = name.baseAddress else {
        return nil
      }
      return String(cString: start)
    }
  }

  /// The medium of a device by its files in sysfs (Documentation/ABI/testing/sysfs-class-net).
  ///
  /// Wi-Fi has `wireless` or `phy80211`. Every device but plain Ethernet has a `DEVTYPE`.
  private func medium(of interface: String) -> Network.Medium {
    let device = "\(devices)/\(interface)"
    if ["wireless", "phy80211"].contains(where: { access("\(device)/\($0)", F_OK) == 0 }) { return .wifi }
    let event = SmallFiles.text(of: "\(device)/uevent") ?? ""
    let type = event.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }
    if type == "DEVTYPE=wlan" { return .wifi }
    if type == "DEVTYPE=wwan" || interface.hasPrefix("ppp") { return .cellular }
    let isEthernet = SmallFiles.text(of: "\(device)/type") == "1"
    return isEthernet && type == nil ? .wired : .other
  }
}
