import CWindows
import Glibc
import Systemd

/// Follows logind to know whether the user is at the machine: it is awake, and the display session is active, unlocked
/// and not idle.
///
/// Without logind or a display session, the user counts as present.
final class Attention {
  private static let service = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"

  private let bus: Bus
  private let changed: () -> Void
  private var watch: BusWatch?
  private var question: BusCall?
  private var ownerListener: BusListener?
  private var sleepListener: BusListener?
  private var userListener: BusListener?
  private var listener: BusListener?
  private var path: String?
  private var properties: [String: Bool] = [:]
  /// Whether the machine sleeps or is about to sleep.
  private var isAsleep = false

  init(_ bus: Bus, changed: @escaping () -> Void) {
    (self.bus, self.changed) = (bus, changed)
    ownerListener = bus.listen(to: .ownerChanged(of: Self.service)) { [unowned self] values in
      forget()
      if values.count == 3, values[2].text?.isEmpty == false { findUser() }
    }
    let sleep = BusSignal(Self.service, path: Self.path, interface: Self.manager, name: "PrepareForSleep")
    sleepListener = bus.listen(to: sleep) { [unowned self] values in
      update { isAsleep = values.first?.boolean == true }
    }
    watch = bus.watch { [unowned self] state in
      forget()
      if state == .connected { findUser() }
    }
  }

  /// Whether the user may be looking at the desktop.
  var isThere: Bool {
    !isAsleep && properties["Active"] != false && properties["LockedHint"] != true && properties["IdleHint"] != true
  }

  private func findUser() {
    let method = BusMethod(
      Self.service, path: Self.path, interface: Self.manager, name: "GetUser", arguments: [.uint32(getuid())])
    question = bus.call(method) { [unowned self] answer in
      guard case .success(let values) = answer, let path = values.first?.text else { return }
      userListener = bus.listen(
        to: .propertiesChanged(of: "org.freedesktop.login1.User", at: path, in: Self.service)
      ) { [unowned self] values in
        // Another session may now be the display session; a session that opens or closes changes nothing here.
        if values.count > 1, let display = values[1].entries?["Display"] { follow(display) }
      }
      question = bus.call(.get("Display", of: "org.freedesktop.login1.User", at: path, in: Self.service)) {
        [unowned self] answer in
        if case .success(let values) = answer, let display = values.first { follow(display) }
      }
    }
  }

  /// Follows the display session: an id and a path, both empty if there is none.
  private func follow(_ display: BusValue) {
    guard let fields = display.elements, fields.count == 2, let id = fields[0].text, let path = fields[1].text,
      !id.isEmpty
    else { return leaveSession() }
    guard path != self.path else { return }
    leaveSession()
    self.path = path
    listener = bus.listen(to: .propertiesChanged(of: Self.session, at: path, in: Self.service)) {
      [unowned self] values in
      if values.count > 1, let entries = values[1].entries { apply(entries) }
    }
    question = bus.call(.getAll(of: Self.session, at: path, in: Self.service)) { [unowned self] answer in
      if case .success(let values) = answer, let entries = values.first?.entries { apply(entries) }
    }
  }

  private func apply(_ entries: [String: BusValue]) {
    update {
      for name in ["Active", "LockedHint", "IdleHint"] {
        if let value = entries[name]?.boolean { properties[name] = value }
      }
    }
  }

  private func leaveSession() { update { (path, listener, properties) = (nil, nil, [:]) } }

  private func forget() {
    (question, userListener) = (nil, nil)
    update { isAsleep = false }
    leaveSession()
  }

  /// Applies a change, and reports it if the user has come or left.
  private func update(_ change: () -> Void) {
    let before = isThere
    change()
    if isThere != before { changed() }
  }
}

/// Follows whether the user is idle, as the compositor reports by ext_idle_notifier_v1.
///
/// Use it for compositors that report nothing to logind. Without the protocol, the user never counts as idle.
final class SeatIdleness {
  private let path: String
  private let after: UInt32
  private let loop: EventLoop
  private let changed: () -> Void
  private var connection: OpaquePointer?
  private var source: IOSource?
  private var tries: ConnectionTries?
  /// Whether the user is idle.
  private(set) var isIdle = false

  /// Follows the compositor at a path; `after` is in milliseconds.
  init(of path: String, after: UInt32, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void)
    throws(SystemdError)
  {
    (self.path, self.after, self.loop, self.changed) = (path, after, loop, changed)
    tries = try ConnectionTries(at: path, on: loop, journal) { [unowned self] in connect() }
    connect()
  }

  deinit {
    source?.cancel()
    if let connection { idle_close(connection) }
  }

  private func connect() {
    // The timer and the socket may both request a connection.
    guard connection == nil else { return }
    guard let made = idle_open(path, after) else {
      tries?.tryAgain()
      return
    }
    connection = made
    tries?.endPause()
    do throws(SystemdError) {
      source = try loop.watch(idle_descriptor(made), for: .readable) { [unowned self] events in
        turn(isReadable: !events.isDisjoint(with: [.readable, .hangup, .error]))
      }
    } catch {
      return close()
    }
    turn(isReadable: false)
  }

  private func turn(isReadable: Bool) {
    guard let connection else { return }
    switch idle_turn(connection, isReadable) {
    case .asking: break
    case .watching: tries?.succeeded()
    case .unsupported: return close()
    case .lost:
      close()
      tries?.tryAgain()
      return
    }
    // A turn may have queued more requests, which are sent at once.
    source?.events = idle_wants_to_write(connection) ? [.readable, .writable] : .readable
    set(idle_is_idle(connection))
  }

  private func close() {
    source?.cancel()
    if let connection { idle_close(connection) }
    (source, connection) = (nil, nil)
    set(false)
  }

  private func set(_ isIdle: Bool) {
    guard isIdle != self.isIdle else { return }
    self.isIdle = isIdle
    changed()
  }
}
