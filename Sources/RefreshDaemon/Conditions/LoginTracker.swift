import Systemd

/// Which users are logged in, from systemd-logind's sessions (FEATURES A9).
///
/// A session counts if a person is behind it: those of greeters, of cron and of the user's own service manager do not
/// (org.freedesktop.login1(5), `Class`). One that lingers on after its end counts until its processes are gone. What is
/// known stays known while logind or the bus is away, so that nobody is logged out by an update of systemd.
final class LoginTracker {
  /// Called with the users who have sessions, whenever logind has said who they are; it may be the same as before.
  var onSessions: (Set<UInt32>) -> Void = { _ in }
  /// How logind is, in a few words for a person.
  var text: String { Testimony<Bool>(logind.state) { _ in .known(true) }.text }

  private struct Session {
    let user: UInt32
    /// Whether it counts; nil until its class is known.
    var isCounted: Bool?
    /// The question for its class.
    var question: BusCall?
  }

  private let bus: Bus
  /// There to say when logind comes, again if need be.
  private let logind: BusObject
  private var listeners: [BusListener] = []
  private var list: BusCall?
  private var sessions: [String: Session] = [:]
  private var lingering: [UInt32: BusCall] = [:]

  init(on bus: Bus) throws(SystemdError) {
    self.bus = bus
    logind = try BusObject(
      Logind.service, called: Logind.name, path: Logind.path, interface: Logind.interface, wanted: [], on: bus)
    logind.onChange = { [unowned self] in
      if case .known = logind.state { look() }
    }
    listeners = ["SessionNew", "SessionRemoved"].map { name in
      bus.listen(to: Logind.signal(name)) { [unowned self] _ in look() }
    }
  }

  /// Asks who has sessions; a question that is still open is asked anew, because its answer may be from before.
  private func look() {
    list = bus.call(Logind.call("ListSessions")) { [unowned self] answer in
      if case .success(let values) = answer { take(values.first?.elements ?? []) }
    }
  }

  /// Takes the list: for each session its id, user, user's name, seat and path.
  private func take(_ rows: [BusValue]) {
    var seen: Set<String> = []
    for row in rows {
      guard let cells = row.elements, cells.count == 5, let id = cells[0].text, let path = cells[4].text,
        let user = cells[1].integer.flatMap({ UInt32(exactly: $0) })
      else { continue }
      seen.insert(id)
      guard sessions[id] == nil else { continue }
      sessions[id] = Session(user: user)
      let question = BusMethod.get("Class", of: "org.freedesktop.login1.Session", at: path, in: Logind.service)
      sessions[id]?.question = bus.call(question) { [unowned self] in takeClass($0, of: id) }
    }
    sessions = sessions.filter { seen.contains($0.key) }
    report()
  }

  private func takeClass(_ answer: BusCall.Answer, of id: String) {
    // One that ended meanwhile has no class, and a signal has told of its end.
    if case .success(let values) = answer, let name = values.first?.text {
      sessions[id]?.isCounted = Self.counts(name)
    } else {
      sessions[id]?.isCounted = false
    }
    sessions[id]?.question = nil
    report()
  }

  /// Whether a person is behind a session of this class: `user`, `user-early`, `user-incomplete` and `user-light`.
  static func counts(_ name: String) -> Bool { name == "user" || name.hasPrefix("user-") }

  /// Tells who has sessions, once every session's class is known: a user who goes from one session to the next is not
  /// logged out between.
  private func report() {
    guard sessions.values.allSatisfy({ $0.isCounted != nil }) else { return }
    onSessions(Set(sessions.values.filter { $0.isCounted == true }.map(\.user)))
  }

  /// Asks whether a user lingers: whether what is the user's goes on without a session (`loginctl enable-linger`).
  ///
  /// Whom logind does not know neither has a session nor lingers. No answer comes when logind does not give one.
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) {
    lingering[user] = bus.call(Logind.call("ListUsers")) { [unowned self] users in
      guard case .success(let values) = users else { return }
      let row = values.first?.elements?.lazy.compactMap(\.elements).first { $0.first?.integer == Int(user) }
      guard let path = row?.last?.text else { return answer(false) }
      let question = BusMethod.get("Linger", of: "org.freedesktop.login1.User", at: path, in: Logind.service)
      lingering[user] = bus.call(question) { linger in
        if case .success(let values) = linger, let lingers = values.first?.boolean { answer(lingers) }
      }
    }
  }
}
