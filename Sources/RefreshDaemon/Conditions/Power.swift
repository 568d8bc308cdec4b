import Glibc
import RefreshEngine
import Systemd

/// The power supply, from UPower, else the kernel.
final class PowerTracker: FactTracker {
  private let directory: String
  private let upower: UPower
  private let supplies: FallbackSource<PowerSupplies>

  static func observation(_ reading: Reading<Power>) -> Observation { .power(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    let directory = context.settings.powerSupplies
    self.directory = directory
    let supplies = FallbackSource<PowerSupplies> { () throws(SystemdError) in
      try PowerSupplies(in: directory, on: context.loop, onChange: onChange)
    }
    self.supplies = supplies
    upower = try UPower(on: context.bus) { upower in
      supplies.watch(upower.answer.isMissing)
      onChange()
    }
    supplies.watch(upower.answer.isMissing)
  }

  var sources: [ConditionSource<Power>] {
    [ConditionSource(UPower.name, upower.answer), ConditionSource(directory, supplies.answer)]
  }
}

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
        return .silent("UPower does not report whether the machine is on battery")
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

/// Whether the power-saver profile is on, from power-profiles-daemon or a compatible service.
final class PowerProfileTracker: FactTracker {
  private static let name = "power-profiles-daemon"

  private let daemon: BusObject
  /// The same service under its bus name before version 0.20.
  private let formerly: BusObject

  static func observation(_ reading: Reading<Bool>) -> Observation { .powerSaver(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    daemon = try BusObject(
      "org.freedesktop.UPower.PowerProfiles", called: Self.name, path: "/org/freedesktop/UPower/PowerProfiles",
      interface: "org.freedesktop.UPower.PowerProfiles", wanted: ["ActiveProfile"], on: context.bus)
    formerly = try BusObject(
      "net.hadess.PowerProfiles", called: Self.name, path: "/net/hadess/PowerProfiles",
      interface: "net.hadess.PowerProfiles", wanted: ["ActiveProfile"], on: context.bus)
    daemon.onChange = onChange
    formerly.onChange = onChange
  }

  /// The only source, with the better answer of the two bus names.
  var sources: [ConditionSource<Bool>] {
    let answers = [daemon, formerly].map { ConditionAnswer($0.state, read: Self.answer) }
    let best = answers.first(where: \.isKnown) ?? answers.first { $0 != .absent } ?? .absent
    return [ConditionSource(Self.name, best)]
  }

  /// Reads `ActiveProfile`: `power-saver`, `balanced` or `performance`.
  static func answer(_ properties: [String: BusValue]) -> ConditionAnswer<Bool> {
    guard let profile = properties["ActiveProfile"]?.text, !profile.isEmpty else {
      return .silent("power-profiles-daemon does not report a profile")
    }
    return .known(profile == "power-saver")
  }
}
