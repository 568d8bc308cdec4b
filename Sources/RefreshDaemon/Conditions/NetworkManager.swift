import RefreshEngine
import Systemd

/// NetworkManager's word on the network (its D-Bus reference: `org.freedesktop.NetworkManager`).
///
/// Follows the primary connection to its device and, on Wi-Fi, its access point. Of these only what identifies them is
/// read, once: an access point that is watched tells its strength every few seconds.
final class NetworkManager {
  static let name = "NetworkManager"
  private static let service = "org.freedesktop.NetworkManager"

  /// Called after every change of what it says.
  var onChange: () -> Void = {}

  private let bus: Bus
  private let manager: BusObject
  private var connection: Followed<BusObject>?
  private var device: Followed<BusAnswer>?
  private var accessPoint: Followed<BusAnswer>?

  init(on bus: Bus) throws(SystemdError) {
    self.bus = bus
    manager = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/NetworkManager", interface: Self.service,
      wanted: ["State", "Connectivity", "Metered", "PrimaryConnection", "PrimaryConnectionType"], on: bus)
    manager.onChange = { [unowned self] in follow() }
  }

  /// What it says now.
  var testimony: Testimony<Network> {
    Testimony(manager.state) { properties in
      let words = Words(properties)
      guard words.primaryConnection != nil else { return words.testimony(interface: "", ssid: nil) }
      let details = [connection?.value.isAwaited, device?.value.isAwaited, accessPoint?.value.isAwaited]
      if details.contains(true) { return .awaited }
      return words.testimony(
        interface: device?.value.value?.text ?? "",
        ssid: accessPoint?.value.value?.bytes.map { String(decoding: $0, as: UTF8.self) })
    }
  }

  /// Goes from the manager to the connection, its device and its access point, as far as they are known.
  private func follow() {
    defer { onChange() }
    guard case .known(let properties) = manager.state, let path = Words(properties).primaryConnection else {
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
      // The interface that carries the packets: ppp0 where the device itself is a modem.
      device = devicePath.map { read("IpInterface", of: "\(Self.service).Device", at: $0) }
    }
    // On Wi-Fi the specific object is the access point; a root path is none.
    let isWifi = Words(properties).medium == .wifi
    let pointPath = isWifi ? parts["SpecificObject"]?.text.flatMap { $0 == "/" ? nil : $0 } : nil
    if accessPoint?.path != pointPath {
      accessPoint = pointPath.map { read("Ssid", of: "\(Self.service).AccessPoint", at: $0) }
    }
  }

  private func watch(connectionAt path: String) -> Followed<BusObject>? {
    // Without room for a timer the connection stays unknown, and only the names are missing.
    guard
      let object = try? BusObject(
        Self.service, called: Self.name, path: path, interface: "\(Self.service).Connection.Active",
        wanted: ["Devices", "SpecificObject"], on: bus)
    else { return nil }
    object.onChange = { [unowned self] in follow() }
    return Followed(path: path, value: object)
  }

  private func read(_ property: String, of interface: String, at path: String) -> Followed<BusAnswer> {
    Followed(
      path: path,
      value: BusAnswer(to: .get(property, of: interface, at: path, in: Self.service), on: bus) { [unowned self] in
        onChange()
      })
  }
}

/// An object that was reached by its path.
private struct Followed<Value> {
  let path: String
  let value: Value
}

/// The answer to one question, which may not come.
private final class BusAnswer {
  private(set) var isAwaited = true
  private(set) var value: BusValue?
  private var call: BusCall?

  init(to method: BusMethod, on bus: Bus, then: @escaping () -> Void) {
    call = bus.call(method) { [unowned self] answer in
      isAwaited = false
      if case .success(let values) = answer { value = values.first }
      then()
    }
  }
}

extension BusObject {
  fileprivate var isAwaited: Bool { state == .asked }
}

extension NetworkManager {
  /// The manager's properties as the numbers that they are (`NMState`, `NMConnectivityState`, `NMMetered`).
  struct Words {
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

    /// How far the network reaches; nil when NetworkManager does not know either.
    ///
    /// Below `NM_STATE_CONNECTED_LOCAL` (50) nothing is connected. Above it the connectivity check has the word, and
    /// where that is switched off, `NM_STATE_CONNECTED_GLOBAL` (70) is the internet.
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

    /// Whether NetworkManager says that nothing is connected (`NM_STATE_DISCONNECTED`), though it is not switched off.
    var isDisconnected: Bool { state == 20 }

    /// The answer of `Metered`.
    var meteredAnswer: Network.Metered {
      switch metered {
      case 1: .yes
      case 2: .no
      case 3: .guessYes
      case 4: .guessNo
      default: .unknown
      }
    }

    /// What carries the default route.
    var medium: Network.Medium? {
      switch type {
      case "": nil
      case "802-3-ethernet", "pppoe", "adsl": .wired
      case "802-11-wireless": .wifi
      case "gsm", "cdma": .cellular
      default: .other
      }
    }

    func testimony(interface: String, ssid: String?) -> Testimony<Network> {
      guard let reach else { return .silent("NetworkManager does not know its own state") }
      return .known(
        Network(reach: reach, metered: meteredAnswer, medium: medium, interface: interface, ssid: ssid),
        without: connectivity == 0 && reach == .full ? "connectivity is not checked" : nil)
    }
  }

  /// Whether NetworkManager is there and says that nothing is connected.
  var isDisconnected: Bool {
    guard case .known(let properties) = manager.state else { return false }
    return Words(properties).isDisconnected
  }
}
