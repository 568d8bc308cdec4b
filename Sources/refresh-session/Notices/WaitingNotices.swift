import RefreshAPI

/// The notices that wait until the user wants to be disturbed; of those that an app is stale or fails, the newest.
///
/// The wait is bounded, because a user may leave that switch off for days. The desktop then has the notice in its list.
struct WaitingNotices {
  /// A notice, and what its button does.
  struct PostponedNotice {
    var notice: Wire.DesktopNotice
    var pause: () -> Void
    /// Since when a notice of this app and kind waits, boot clock.
    let since: Int64
  }

  /// The most notices that wait.
  static let most = 64
  /// The longest that one waits, microseconds.
  static let longest: Int64 = 3_600_000_000

  /// In the order in which they came.
  private var rows: [PostponedNotice] = []

  /// When the first of them has waited for long enough, boot clock; nil while none waits.
  var endsAt: Int64? { rows.first.map { $0.since + Self.longest } }

  /// Has a notice wait from an instant on, boot clock, or in place of an older one of its app and kind.
  mutating func add(_ notice: Wire.DesktopNotice, at now: Int64, pause: @escaping () -> Void) {
    let isState = notice.kind == .stale || notice.kind == .failing
    let same = rows.firstIndex { ($0.notice.app, $0.notice.kind) == (notice.app, notice.kind) }
    if isState, let same {
      (rows[same].notice, rows[same].pause) = (notice, pause)
    } else {
      rows.append(PostponedNotice(notice: notice, pause: pause, since: now))
    }
  }

  /// Takes out all of them.
  mutating func takeAll() -> [PostponedNotice] {
    defer { rows = [] }
    return rows
  }

  /// Takes out those that have waited for long enough at an instant, boot clock, and the oldest of too many.
  mutating func takeOverdue(at now: Int64) -> [PostponedNotice] {
    let overdue = rows.prefix { $0.since + Self.longest <= now }.count
    let count = max(overdue, rows.count - Self.most)
    defer { rows.removeFirst(count) }
    return Array(rows.prefix(count))
  }
}
