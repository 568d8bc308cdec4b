import RefreshAPI
import RefreshConfig
import RefreshEngine

/// The notices for users: through a session of the user or, for the end of transfers, also through refresh-worker.
final class DesktopNotices {
  /// The most characters of a title and of a text.
  private static let (longestTitle, longestBody) = (200, 1000)
  /// The most characters of a task's message within a text.
  private static let longestMessage = 500
  /// How many notices a user may get in a span of time; further notices are dropped.
  private static let (most, span) = (30, Duration.minutes(1))

  private unowned let core: DaemonCore
  private let sessions: DesktopSessions
  private let notifyCommands: NotifyCommands
  private let journal: DaemonJournal
  /// The times of each user's notices, newest last.
  private var shown: [UInt32: [Instant]] = [:]
  /// The times since which data is stale, for notices that no session of the owner has received yet.
  private var waiting: [AppID: Instant] = [:]
  /// The texts of notices about failing apps that no session of the owner has received yet.
  private var waitingFailures: [AppID: String] = [:]

  init(_ core: DaemonCore, _ sessions: DesktopSessions, _ notifyCommands: NotifyCommands, _ journal: DaemonJournal) {
    (self.core, self.sessions, self.notifyCommands, self.journal) = (core, sessions, notifyCommands, journal)
  }

  /// Shows that the data of an app is stale, at once or to the next session of its owner.
  func reportStale(_ app: AppConfiguration, since: Instant) {
    guard sessions.hasOne(of: app.owner.uid) else { return waiting[app.id] = since }
    let age = Duration.seconds(since.duration(to: core.now).components.seconds).inSystemdForm
    show(.stale, of: app.id, body: "The data is \(age) old. `refreshctl why \(app.id)` says why.")
  }

  /// Shows that an app is failing, at once or to the next session of its owner.
  func reportFailing(_ app: AppConfiguration, _ failures: Int32, _ message: String) {
    let refreshes = failures == 1 ? "The last refresh" : "The last \(failures) refreshes"
    let body = "\(refreshes) failed: \(message.prefix(Self.longestMessage)). `refreshctl why \(app.id)` says more."
    guard sessions.hasOne(of: app.owner.uid) else { return waitingFailures[app.id] = body }
    show(.failing, of: app.id, body: body)
  }

  /// Shows the waiting notices: a machine that was off for long finds stale data before anybody has logged in.
  func sessionCame(of user: UInt32) {
    for (id, body) in waitingFailures.sorted(by: { $0.key < $1.key }) {
      let owner = core.configuration[id]?.owner.uid
      guard owner == user || owner == nil else { continue }
      waitingFailures[id] = nil
      if owner != nil, core.engine.state(of: id)?.streak?.isReported == true { show(.failing, of: id, body: body) }
    }
    for (id, since) in waiting.sorted(by: { $0.key < $1.key }) {
      guard let app = core.configuration[id] else {
        waiting[id] = nil
        continue
      }
      guard app.owner.uid == user else { continue }
      waiting[id] = nil
      if core.engine.staleSince(id, at: core.now) != nil { reportStale(app, since: since) }
    }
  }

  /// Shows a notice to the owner of an app; a missing title is the app's name.
  func show(_ kind: Wire.NoticeKind, of id: AppID, title: String? = nil, body: String) {
    guard let app = core.configuration[id], !core.engine.isStopping else { return }
    let notice = Wire.DesktopNotice(
      kind: kind, app: id.description, desktop: app.desktop.ids.first ?? id.description,
      title: String((title ?? app.name).prefix(Self.longestTitle)), body: String(body.prefix(Self.longestBody)))
    // Only transfers use refresh-worker without a session, because the app asked for their notices.
    guard kind == .transfers || sessions.hasOne(of: app.owner.uid) else { return }
    guard hasRoom(for: app.owner.uid) else {
      return journal.noticeDropped(of: id, limit: Self.most)
    }
    if !sessions.show(notice, to: app.owner.uid) { notifyCommands.showOnDesktop(notice, of: app) }
  }

  /// Counts a notice for a user; returns false if the user got too many lately.
  private func hasRoom(for user: UInt32) -> Bool {
    let now = core.now
    var times = shown[user, default: []].filter { $0.duration(to: now) < Self.span }
    defer { shown[user] = times }
    guard times.count < Self.most else { return false }
    times.append(now)
    return true
  }
}
