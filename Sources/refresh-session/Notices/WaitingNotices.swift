import RefreshAPI

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

  /// The end of the first wait, boot clock; nil if none waits.
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
  mutating func takeAll() -> [PostponedNotice] {
    defer { rows = [] }
    return rows
  }

  /// Removes and returns the notices whose wait is over at an instant of the boot clock, and the oldest beyond ``most``.
  mutating func takeOverdue(at now: Int64) -> [PostponedNotice] {
    let overdue = rows.prefix { $0.since + Self.longest <= now }.count
    let count = max(overdue, rows.count - Self.most)
    defer { rows.removeFirst(count) }
    return Array(rows.prefix(count))
  }
}
