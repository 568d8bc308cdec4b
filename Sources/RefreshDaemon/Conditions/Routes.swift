import CLinux
import Glibc
import RefreshEngine
import Systemd

/// The interface by which a packet to the internet would leave.
struct Route: Hashable, Sendable {
  /// What a route alone does not tell.
  static let unchecked = "connectivity is not checked"

  var interface: String
  var medium: Network.Medium
}

/// The kernel's word on the network: whether there is a route to the internet (rtnetlink(7)).
///
/// The kernel is told no more than "where would a packet to this address go", so that rules and tables of tunnels count
/// as they do for the packet. It says when a link or a route changes; nothing is polled.
final class Routes {
  static let name = "rtnetlink"

  /// Addresses on the internet that stay, to which nothing is ever sent: a root server of the domain name system.
  private static let addresses: [(family: Int32, bytes: [UInt8])] = [
    (AF_INET, [198, 41, 0, 4]),
    (AF_INET6, [0x20, 0x01, 0x05, 0x03, 0xba, 0x3e, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x30]),
  ]

  /// Called after every change of ``route`` or ``problem``.
  var onChange: () -> Void = {}
  /// The route now; nil if there is none.
  private(set) var route: Route?
  /// Why the route is not known.
  private(set) var problem: String?

  private let devices: String
  private let descriptor: Int32
  private var source: IOSource?

  /// Begins to watch; `devices` is where the kernel shows network devices, `/sys/class/net`.
  init(on loop: EventLoop, devices: String) throws(SystemdError) {
    self.devices = devices
    descriptor = linux_route_events()
    guard descriptor >= 0 else { throw SystemdError(cannot: "watch the kernel's routes", code: errno) }
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in takeEvents() }
    look()
  }

  deinit {
    source?.cancel()
    close(descriptor)
  }

  /// What the kernel says now.
  var testimony: Testimony<Network> {
    if let problem { return .silent(problem) }
    guard let route else { return .known(Network(reach: .offline)) }
    return .known(Network(reach: .full, medium: route.medium, interface: route.interface), without: Route.unchecked)
  }

  private func takeEvents() {
    // What they say does not matter, nor if some were lost (ENOBUFS): the question is asked anew.
    withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
      var left = 64
      while left > 0, linux_receive_now(descriptor, buffer.baseAddress, buffer.count) > 0 { left -= 1 }
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

  /// The kind of a device by what the kernel shows of it: `wireless` and `phy80211` are there for Wi-Fi, and `DEVTYPE`
  /// is said by all that is no plain Ethernet (Documentation/ABI/testing/sysfs-class-net).
  private func medium(of interface: String) -> Network.Medium {
    let device = "\(devices)/\(interface)"
    if ["wireless", "phy80211"].contains(where: { access("\(device)/\($0)", F_OK) == 0 }) { return .wifi }
    let event = SmallFile.text(of: "\(device)/uevent") ?? ""
    if event.contains("DEVTYPE=wlan") { return .wifi }
    if event.contains("DEVTYPE=wwan") || interface.hasPrefix("ppp") { return .cellular }
    let isEthernet = SmallFile.text(of: "\(device)/type") == "1"
    return isEthernet && !event.contains("DEVTYPE=") ? .wired : .other
  }
}
