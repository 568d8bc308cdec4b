import RefreshEngine
import Systemd

/// Whether the user has been idle for a while, from systemd-logind.
///
/// A desktop reports to logind when its user is idle. logind calls the machine idle when all sessions are, or when there
/// is none (org.freedesktop.login1(5), `IdleHint`). A user's daemon asks only for its own user.
final class IdleTracker: FactTracker {
  private let onChange: () -> Void

  private let object: BusObject
  private var inhibited: BusValue?
  private var sessions: [BusListener] = []

  static func observation(_ reading: Reading<Bool>) -> Observation { .idle(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    self.onChange = onChange
    let user = context.settings.user
    object = try BusObject(
      Logind.service, called: Logind.name, path: user.map { "\(Logind.path)/user/_\($0)" } ?? Logind.path,
      interface: user == nil ? Logind.interface : "org.freedesktop.login1.User",
      wanted: ["IdleHint", "BlockInhibited"], on: context.bus)
    object.onChange = { [unowned self] in changed() }
    // A new or removed session changes IdleHint without a PropertiesChanged signal, and so does an inhibitor.
    sessions = ["SessionNew", "SessionRemoved"].map { name in
      context.bus.listen(to: Logind.signal(name)) { [unowned self] _ in object.ask() }
    }
  }

  private func changed() {
    if case .known(let properties) = object.state, properties["BlockInhibited"] != inhibited {
      inhibited = properties["BlockInhibited"]
      object.ask()
    }
    onChange()
  }

  var sources: [ConditionSource<Bool>] {
    let answer = ConditionAnswer<Bool>(object.state) { properties in
      properties["IdleHint"]?.boolean.map { .known($0) } ?? .silent("systemd-logind has no IdleHint")
    }
    return [ConditionSource(Logind.name, answer)]
  }
}
