import RefreshEngine
import Systemd

/// Whether a power-saver profile is on, from power-profiles-daemon or what stands in for it (FEATURES D2).
final class PowerProfileTracker: FactTracker {
  /// Called after every change of what a source says.
  var onChange: () -> Void = {}

  private static let name = "power-profiles-daemon"

  private let daemon: BusObject
  /// The same under the name that it had before its version 0.20.
  private let formerly: BusObject

  init(on bus: Bus) throws(SystemdError) {
    daemon = try BusObject(
      "org.freedesktop.UPower.PowerProfiles", called: Self.name, path: "/org/freedesktop/UPower/PowerProfiles",
      interface: "org.freedesktop.UPower.PowerProfiles", wanted: ["ActiveProfile"], on: bus)
    formerly = try BusObject(
      "net.hadess.PowerProfiles", called: Self.name, path: "/net/hadess/PowerProfiles",
      interface: "net.hadess.PowerProfiles", wanted: ["ActiveProfile"], on: bus)
    daemon.onChange = { [unowned self] in onChange() }
    formerly.onChange = { [unowned self] in onChange() }
  }

  /// Who is asked, and what it says under either name.
  var witnesses: [Witness<Bool>] {
    let testimonies = [daemon, formerly].map { Testimony($0.state, read: Self.testimony) }
    let best = testimonies.first(where: \.isKnown) ?? testimonies.first { $0 != .absent } ?? .absent
    return [Witness(Self.name, best)]
  }

  /// Reads `ActiveProfile`: `power-saver`, `balanced` or `performance`.
  static func testimony(_ properties: [String: BusValue]) -> Testimony<Bool> {
    guard let profile = properties["ActiveProfile"]?.text, !profile.isEmpty else {
      return .silent("power-profiles-daemon does not say which profile is on")
    }
    return .known(profile == "power-saver")
  }
}
