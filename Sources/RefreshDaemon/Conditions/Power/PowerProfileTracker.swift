import RefreshEngine
import Systemd

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
      return .silent("power-profiles-daemon does not say which profile is on")
    }
    return .known(profile == "power-saver")
  }
}
