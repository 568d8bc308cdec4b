import Glibc
import RefreshEngine
import Systemd

/// The power supply by the kernel (Documentation/ABI/testing/sysfs-class-power).
///
/// Reads the files at the start and after each event of udev(7); nothing is polled.
final class PowerSupplies: AnswerSource {
  private let onChange: () -> Void
  private(set) var answer = ConditionAnswer<Power>.awaited

  private let directory: String
  private var monitor: DeviceMonitor?

  /// Starts to watch; calls `onChange` after every change of ``answer``.
  init(in directory: String, on loop: EventLoop, onChange: @escaping () -> Void) throws(SystemdError) {
    (self.directory, self.onChange) = (directory, onChange)
    answer = Self.read(directory)
    monitor = try loop.onDevice(of: "power_supply") { [unowned self] in look() }
  }

  private func look() {
    let before = answer
    answer = Self.read(directory)
    if answer != before { onChange() }
  }

  /// Reads all supplies in `directory`; a machine without batteries is on mains.
  static func read(_ directory: String) -> ConditionAnswer<Power> {
    do throws(SystemCallError) {
      return answer(of: try SmallFiles.list(directory).compactMap { Supply(in: "\(directory)/\($0)") })
    } catch {
      return error.code == ENOENT ? .known(Power(), without: "no battery") : .silent(error.description)
    }
  }

  /// Decides as systemd does for ConditionACPower= (systemd.unit(5)).
  ///
  /// The machine is on battery when a battery discharges and no other supply is online.
  static func answer(of supplies: [Supply]) -> ConditionAnswer<Power> {
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

  /// A supply of the machine itself.
  enum Supply: Hashable, Sendable {
    /// Mains, or a charger.
    case mains(isOnline: Bool)
    /// A battery that is in place.
    case battery(isDischarging: Bool, percent: Int?)

    /// Reads a supply; nil for the battery of a peripheral such as a mouse, and for an empty bay.
    init?(in directory: String) {
      func text(_ name: String) -> String? { SmallFiles.text(of: "\(directory)/\(name)") }
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
