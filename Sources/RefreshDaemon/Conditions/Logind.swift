import RefreshEngine
import Systemd

/// systemd-logind on the bus (org.freedesktop.login1(5)).
enum Logind {
  static let name = "systemd-logind"
  static let service = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let interface = "org.freedesktop.login1.Manager"

  /// A signal of the manager.
  static func signal(_ name: String) -> BusSignal {
    BusSignal(service, path: path, interface: interface, name: name)
  }

  /// A method of the manager.
  static func call(_ name: String) -> BusMethod {
    BusMethod(service, path: path, interface: interface, name: name)
  }
}

/// The users who are logged in, from the sessions of systemd-logind.
///
/// A session counts if a person uses it. The sessions of greeters, of cron and of the user's own service manager do not
/// count (org.freedesktop.login1(5), `Class`). A closing session counts until its processes have ended. The last answer
/// stays in force while logind or the bus is away, so that an update of systemd logs nobody out.
final class LoginTracker {
  /// The state of logind, in a few words for a person.
  var text: String { ConditionAnswer<Bool>(logind.state) { _ in .known(true) }.text }

  private struct Session {
    let user: UInt32
    /// Whether it counts; nil until its class is known.
    var isCounted: Bool?
    /// The call that asks for its class.
    var call: BusCall?
  }

  private let bus: Bus
  private let onSessions: (Set<UInt32>) -> Void
  /// Reports when logind appears on the bus.
  private let logind: BusObject
  private var listeners: [BusListener] = []
  private var list: BusCall?
  private var sessions: [String: Session] = [:]
  private var lingering: [UInt32: BusCall] = [:]

  /// Starts to watch; calls `onSessions` with the users who have sessions after each answer of logind, also if they are the
  /// same as before.
  init(on bus: Bus, onSessions: @escaping (Set<UInt32>) -> Void) throws(SystemdError) {
    (self.bus, self.onSessions) = (bus, onSessions)
    logind = try BusObject(
      Logind.service, called: Logind.name, path: Logind.path, interface: Logind.interface, wanted: [], on: bus)
    let look = { [unowned self] in self.look() }
    logind.onChange = look
    listeners = ["SessionNew", "SessionRemoved"].map { name in bus.listen(to: Logind.signal(name)) { _ in look() } }
  }

  /// Lists the sessions once logind is there; replaces a call that is still open, because its reply may be out of date.
  private func look() {
    guard case .known = logind.state else { return }
    list = bus.call(Logind.call("ListSessions")) { [unowned self] answer in
      if case .success(let values) = answer { apply(values.first?.elements ?? []) }
    }
  }

  /// Applies a reply of `ListSessions`: for each session its id, user, user's name, seat and path.
  private func apply(_ rows: [BusValue]) {
    var seen: Set<String> = []
    for row in rows {
      guard let cells = row.elements, cells.count == 5, let id = cells[0].text, let path = cells[4].text,
        let user = cells[1].integer.flatMap({ UInt32(exactly: $0) })
      else { continue }
      seen.insert(id)
      guard sessions[id] == nil else { continue }
      sessions[id] = Session(user: user)
      let method = BusMethod.get("Class", of: "org.freedesktop.login1.Session", at: path, in: Logind.service)
      sessions[id]?.call = bus.call(method) { [unowned self] in applyClass($0, of: id) }
    }
    sessions = sessions.filter { seen.contains($0.key) }
    report()
  }

  private func applyClass(_ answer: BusCall.Answer, of id: String) {
    // A session that has ended since has no class; its end comes as a signal.
    if case .success(let values) = answer, let name = values.first?.text {
      sessions[id]?.isCounted = Self.counts(name)
    } else {
      sessions[id]?.isCounted = false
    }
    sessions[id]?.call = nil
    report()
  }

  /// Whether a person uses a session of this class: `user`, `user-early`, `user-incomplete` or `user-light`.
  static func counts(_ name: String) -> Bool { name == "user" || name.hasPrefix("user-") }

  /// Reports the users once the class of every session is known.
  ///
  /// A user who changes from one session to another is so not logged out in between.
  private func report() {
    guard sessions.values.allSatisfy({ $0.isCounted != nil }) else { return }
    onSessions(Set(sessions.values.filter { $0.isCounted == true }.map(\.user)))
  }

  /// Asks whether a user lingers: whether the user's services run without a session (`loginctl enable-linger`).
  ///
  /// A user unknown to logind does not linger. Without a reply of logind, `answer` is not called.
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) {
    lingering[user] = bus.call(Logind.call("ListUsers")) { [unowned self] users in
      guard case .success(let values) = users else { return }
      let row = values.first?.elements?.lazy.compactMap(\.elements).first { $0.first?.integer == Int(user) }
      guard let path = row?.last?.text else { return answer(false) }
      let method = BusMethod.get("Linger", of: "org.freedesktop.login1.User", at: path, in: Logind.service)
      lingering[user] = bus.call(method) { linger in
        if case .success(let values) = linger, let lingers = values.first?.boolean { answer(lingers) }
      }
    }
  }
}

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
      context.bus.listen(to: Logind.signal(name)) { [object] _ in object.ask() }
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
