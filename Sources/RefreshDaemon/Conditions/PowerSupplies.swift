import Glibc
import RefreshEngine
import Systemd

/// The kernel's word on the power supply (Documentation/ABI/testing/sysfs-class-power).
///
/// Read at the start and whenever udev(7) tells of a change; nothing is polled.
final class PowerSupplies {
  /// Called after every change of what it says.
  var onChange: () -> Void = {}
  /// Where the kernel shows the supplies; also what a person knows the source by.
  let name: String
  /// What it says now.
  private(set) var testimony = Testimony<Power>.awaited

  private var monitor: DeviceMonitor?

  init(in directory: String, on loop: EventLoop) throws(SystemdError) {
    name = directory
    testimony = Self.read(directory)
    monitor = try loop.onDevice(of: "power_supply") { [unowned self] in look() }
  }

  private func look() {
    let before = testimony
    testimony = Self.read(name)
    if testimony != before { onChange() }
  }

  /// Reads all supplies in `directory`; a machine without batteries lives on mains.
  static func read(_ directory: String) -> Testimony<Power> {
    guard let folder = opendir(directory) else {
      guard errno == ENOENT else { return .silent("cannot read \(directory): \(SystemCallError.text(of: errno))") }
      return .known(Power(), without: "no battery")
    }
    defer { closedir(folder) }
    var supplies: [Supply] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix("."), let supply = Supply(in: "\(directory)/\(name)") { supplies.append(supply) }
    }
    return testimony(of: supplies)
  }

  /// Judges as systemd does for ConditionACPower= (systemd.unit(5)): on battery means that one is discharging and no
  /// other supply is online.
  static func testimony(of supplies: [Supply]) -> Testimony<Power> {
    let batteries = supplies.compactMap { supply -> (isDischarging: Bool, percent: Int?)? in
      if case .battery(let isDischarging, let percent) = supply { (isDischarging, percent) } else { nil }
    }
    guard !batteries.isEmpty else { return .known(Power(), without: "no battery") }
    let percents = batteries.compactMap(\.percent)
    return .known(
      Power(
        onBattery: !supplies.contains(.mains(isOnline: true)) && batteries.contains(where: \.isDischarging),
        percent: percents.isEmpty ? nil : percents.reduce(0, +) / percents.count))
  }

  /// One supply of the machine itself.
  enum Supply: Hashable, Sendable {
    /// Mains, or a charger.
    case mains(isOnline: Bool)
    /// A battery that is in place.
    case battery(isDischarging: Bool, percent: Int?)

    /// Reads one; nil for the battery of a mouse or the like, for an empty bay, and for what is no supply.
    init?(in directory: String) {
      func text(_ name: String) -> String? { SmallFile.text(of: "\(directory)/\(name)") }
      guard let type = text("type"), text("scope") != "Device" else { return nil }
      guard type == "Battery" else {
        guard let online = text("online") else { return nil }
        self = .mains(isOnline: online != "0")
        return
      }
      guard text("present") != "0" else { return nil }
      self = .battery(
        isDischarging: text("status") == "Discharging",
        percent: text("capacity").flatMap { Int($0) }.map { min(max($0, 0), 100) })
    }
  }
}
