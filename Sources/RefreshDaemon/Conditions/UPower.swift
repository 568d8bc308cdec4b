import RefreshEngine
import Systemd

/// UPower's word on the power supply (its D-Bus reference: `org.freedesktop.UPower`).
final class UPower {
  static let name = "UPower"
  private static let service = "org.freedesktop.UPower"

  /// Called after every change of what it says.
  var onChange: () -> Void = {}

  private let daemon: BusObject
  /// All batteries of the machine as one.
  private let battery: BusObject

  init(on bus: Bus) throws(SystemdError) {
    daemon = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/UPower", interface: Self.service,
      wanted: ["OnBattery"], on: bus)
    battery = try BusObject(
      Self.service, called: Self.name, path: "/org/freedesktop/UPower/devices/DisplayDevice",
      interface: "\(Self.service).Device", wanted: ["Percentage", "IsPresent"], on: bus)
    daemon.onChange = { [unowned self] in onChange() }
    battery.onChange = { [unowned self] in onChange() }
  }

  /// What it says now.
  var testimony: Testimony<Power> {
    Testimony(daemon.state) { properties in
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

  /// The power supply, with a display device that stands for no battery where there is none.
  static func power(onBattery: Bool, battery: [String: BusValue]) -> Power {
    guard battery["IsPresent"]?.boolean == true, let percentage = battery["Percentage"]?.double else {
      return Power(onBattery: onBattery)
    }
    return Power(onBattery: onBattery, percent: Int(min(max(percentage, 0), 100)))
  }
}
