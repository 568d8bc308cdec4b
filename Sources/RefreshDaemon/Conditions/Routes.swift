import CLinux
import Glibc
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
