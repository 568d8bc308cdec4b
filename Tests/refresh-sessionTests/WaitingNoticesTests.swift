import RefreshAPI
import Testing

@testable import refresh_session

/// The notices that wait while the user does not want to be disturbed.
@Suite struct WaitingNoticesTests {
  private static let hour = WaitingNotices.longest
  private var waiting = WaitingNotices()

  private mutating func add(_ app: String, _ kind: Wire.NoticeKind, _ body: String, at now: Int64 = 0) {
    waiting.add(Wire.DesktopNotice(kind: kind, app: app, desktop: app, title: app, body: body), at: now) {}
  }

  @Test mutating func `Messages wait in order, and of a state of an app the newest, at the place of the first`() {
    add("mail", .alert, "one")
    add("todo", .stale, "old")
    add("mail", .failing, "broken")
    add("mail", .alert, "two")
    add("todo", .stale, "older")
    #expect(waiting.drain().map(\.notice.body) == ["one", "older", "broken", "two"])
    #expect(waiting.drain().isEmpty)
  }

  @Test mutating func `A notice waits an hour at most, although newer ones take its place`() {
    #expect(waiting.endsAt == nil)
    add("mail", .failing, "one", at: 5)
    add("todo", .alert, "late", at: 7)
    add("mail", .failing, "two", at: Self.hour)
    #expect(waiting.endsAt == Self.hour + 5)
    #expect(waiting.drainOverdue(at: Self.hour + 4).isEmpty)
    #expect(waiting.drainOverdue(at: Self.hour + 5).map(\.notice.body) == ["two"])
    #expect(waiting.endsAt == Self.hour + 7)
  }

  @Test mutating func `The oldest of too many waits no longer`() {
    for number in 0...WaitingNotices.most { add("app\(number)", .alert, "\(number)") }
    #expect(waiting.drainOverdue(at: 1).map(\.notice.body) == ["0"])
    #expect(waiting.drain().count == WaitingNotices.most)
  }
}
