import RefreshAPI
import Systemd

/// Shows notices on the user's desktop (Desktop Notifications Specification 1.2), with buttons to open or pause the app.
///
/// Notices wait while the desktop says that the user must not be disturbed; see ``WaitingNotices``. A desktop that does not
/// report this decides by itself what it shows.
final class DesktopNotifier {
  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// The most notices whose buttons are remembered; the oldest are forgotten.
  private static let most = 64
  /// The longest wait for the desktop, including the start of its notification service, in microseconds.
  private static let patience: Int64 = 20_000_000
  /// The property of Plasma's service that is true while the user does not want to be disturbed.
  private static let inhibited = "Inhibited"

  private struct Shown {
    let id: Int
    /// The desktop id that opens the app; nil for an app without a desktop file.
    let desktop: String?
    let pause: (() -> Void)?
  }

  /// The name of the action that pauses the app for today.
  static let pauseAction = "pause-today"

  private let bus: Bus
  private let opener: AppOpener
  private let journal: Journal
  private var calls: [Int: BusCall] = [:]
  private var last = 0
  private var shown: [Shown] = []
  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private let inhibition: BusObject
  private var timer: TimerSource?
  private var waiting = WaitingNotices()

  init(_ bus: Bus, _ opener: AppOpener, on loop: EventLoop, _ journal: Journal) throws(SystemdError) {
    (self.bus, self.opener, self.journal) = (bus, opener, journal)
    inhibition = try BusObject(
      Self.service, called: "the desktop", path: Self.path, interface: Self.service, wanted: [Self.inhibited], on: bus)
    func signal(_ name: String) -> BusSignal {
      BusSignal(Self.service, path: Self.path, interface: Self.service, name: name)
    }
    listeners = [
      bus.listen(to: signal("ActionInvoked")) { [unowned self] in invoked($0) },
      bus.listen(to: signal("NotificationClosed")) { [unowned self] in closed($0) },
      // Another service starts numbering its notifications again, so an old id may belong to another program.
      bus.listen(to: .ownerChanged(of: Self.service)) { [unowned self] _ in shown = [] },
    ]
    watch = bus.watch { [unowned self] _ in shown = [] }
    opener.onFailure = { [unowned self] in warn($0) }
    timer = try loop.timer { [unowned self] in showWaiting() }
    inhibition.onChange = { [unowned self] in showWaiting() }
  }

  /// Shows a notice, at once or when the user may be disturbed.
  func show(_ notice: Wire.DesktopNotice, pause: @escaping () -> Void) {
    waiting.add(notice, at: EventLoop.bootMicroseconds(), pause: pause)
    showWaiting()
  }

  /// Whether notices wait: the user must not be disturbed, or the desktop has not answered yet.
  private var isWaiting: Bool {
    switch inhibition.state {
    case .asked: true
    case .known(let properties): properties[Self.inhibited]?.boolean == true
    case .absent, .silent: false
    }
  }

  private func showWaiting() {
    let ready = isWaiting ? waiting.drainOverdue(at: EventLoop.bootMicroseconds()) : waiting.drain()
    for row in ready { handOver(row.notice, pause: row.pause) }
    if let end = waiting.endsAt { timer?.arm(at: end, accuracy: 60_000_000) } else { timer?.disarm() }
  }

  /// Sends a notice to the desktop: a button opens an app with a desktop file, another pauses a stale or failing app.
  private func handOver(_ notice: Wire.DesktopNotice, pause: @escaping () -> Void) {
    guard calls.count < Self.most else {
      return warn("cannot show a notice of \(notice.app): the desktop does not answer")
    }
    last += 1
    let number = last
    let desktop = opener.canOpen(notice.desktop) ? notice.desktop : nil
    calls[number] = bus.call(Self.call(notice, isOpenable: desktop != nil), timeout: Self.patience) {
      [unowned self] answer in
      calls[number] = nil
      switch answer {
      case .success(let values):
        let pause = notice.kind.isPausable ? pause : nil
        guard desktop != nil || pause != nil, let id = values.first?.integer else { return }
        shown = shown.suffix(Self.most - 1) + [Shown(id: id, desktop: desktop, pause: pause)]
      case .failure(let error): warn("cannot show a notice of \(notice.app): \(error)")
      }
    }
    // Without a connection, the call has failed before this function stored it.
    if bus.state != .connected { calls[number] = nil }
  }

  /// The call of `Notify`.
  static func call(_ notice: Wire.DesktopNotice, isOpenable: Bool) -> BusMethod {
    let urgency: UInt8 = notice.kind == .stale ? 0 : 1
    let actions =
      (isOpenable ? ["default", "Open"] : []) + (notice.kind.isPausable ? [pauseAction, "Pause for today"] : [])
    return BusMethod(
      service, path: path, interface: service, name: "Notify",
      arguments: [
        .string(carried(notice.title)), .uint32(0), .string(notice.desktop), .string(carried(notice.title)),
        .string(carried(notice.body).withoutMarkup), .strings(actions),
        .dictionary([("desktop-entry", .string(notice.desktop)), ("urgency", .byte(urgency))]), .int32(-1),
      ], startsService: true)
  }

  private func invoked(_ values: [BusValue]) {
    guard values.count == 2, let id = values[0].integer, let notice = shown.first(where: { $0.id == id }) else {
      return
    }
    switch values[1].text {
    case "default": if let desktop = notice.desktop { opener.open(desktop) }
    case Self.pauseAction: notice.pause?()
    default: break
    }
  }

  private func closed(_ values: [BusValue]) {
    if let id = values.first?.integer { shown.removeAll { $0.id == id } }
  }

  private func warn(_ text: String) { journal.write(JournalEntry(text, priority: .warning)) }

  /// The text with a space for each noncharacter, because sd-bus refuses a message with one.
  static func carried(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { carried, scalar in
      carried.unicodeScalars.append(scalar.properties.isNoncharacterCodePoint ? " " : scalar)
    }
  }
}

extension Wire.NoticeKind {
  /// Whether the user may want to pause the app for today.
  fileprivate var isPausable: Bool {
    switch self {
    case .stale, .failing: true
    case .transfers, .alert: false
    }
  }
}

/// The notices that wait until the user may be disturbed; of an app's stale or failing notices, only the newest waits.
///
/// The wait is bounded, because a user may leave that switch off for days. Afterwards the desktop lists the notice.
struct WaitingNotices {
  /// A notice, and the action of its pause button.
  struct PostponedNotice {
    var notice: Wire.DesktopNotice
    var pause: () -> Void
    /// The start of the wait for a notice of this app and kind, boot clock.
    let since: Int64
  }

  /// The most notices that wait.
  static let most = 64
  /// The longest wait of a notice, in microseconds.
  static let longest: Int64 = 3_600_000_000

  /// The waiting notices, the oldest first.
  private var rows: [PostponedNotice] = []

  /// The end of the first wait, boot clock; nil if no notice waits.
  var endsAt: Int64? { rows.first.map { $0.since + Self.longest } }

  /// Adds a notice at an instant of the boot clock; a stale or failing notice replaces the older one of its app and kind.
  mutating func add(_ notice: Wire.DesktopNotice, at now: Int64, pause: @escaping () -> Void) {
    let isState = notice.kind == .stale || notice.kind == .failing
    let same = rows.firstIndex { ($0.notice.app, $0.notice.kind) == (notice.app, notice.kind) }
    if isState, let same {
      (rows[same].notice, rows[same].pause) = (notice, pause)
    } else {
      rows.append(PostponedNotice(notice: notice, pause: pause, since: now))
    }
  }

  /// Removes and returns all notices.
  mutating func drain() -> [PostponedNotice] {
    defer { rows = [] }
    return rows
  }

  /// Removes and returns the notices whose wait is over at an instant of the boot clock, and the oldest beyond ``most``.
  mutating func drainOverdue(at now: Int64) -> [PostponedNotice] {
    let overdue = rows.prefix { $0.since + Self.longest <= now }.count
    let count = max(overdue, rows.count - Self.most)
    defer { rows.removeFirst(count) }
    return Array(rows.prefix(count))
  }
}
