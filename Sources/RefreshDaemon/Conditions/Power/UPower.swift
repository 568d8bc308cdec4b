import RefreshEngine
import Systemd

/// The power supply by UPower (D-Bus reference of `org.freedesktop.UPower`).
final class UPower {
  static let name = "UPower"
  private static let service = "org.freedesktop.UPower"

  private let daemon: BusObject
  /// The display device: all batteries of the machine as one.
  private let battery: BusObject

  /// Starts to watch; calls `onChange` after every change of ``answer``.
  init(on bus: Bus, onChange: @escaping (UPower) -> Void) throws(SystemdError) {
    daemon = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/UPower", interface: Self.service,
      wanted: ["OnBattery"], on: bus)
    battery = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/UPower/devices/DisplayDevice",
      interface: "\(Self.service).Device", wanted: ["Percentage", "IsPresent"], on: bus)
    for object in [daemon, battery] { object.onChange = { [unowned self] in onChange(self) } }
  }

  var answer: ConditionAnswer<Power> {
    ConditionAnswer(daemon.state) { properties in
      guard let onBattery = properties["OnBattery"]?.boolean else {
        return .silent("UPower does not say whether the machine is on battery")
      }
      switch battery.state {
      case .asked: return .awaited
      case .known(let properties): return .known(Self.power(onBattery: onBattery, battery: properties))
      case .absent, .silent: return .known(Power(onBattery: onBattery), without: "the charge is not known")
      }
    }
  }

  /// The power supply; a display device that is not present has no charge.
  static func power(onBattery: Bool, battery: [String: BusValue]) -> Power {
    guard battery["IsPresent"]?.boolean == true, let percentage = battery["Percentage"]?.double else {
      return Power(onBattery: onBattery)
    }
    return Power(onBattery: onBattery, percent: Int(min(max(percentage, 0), 100)))
  }
}
