import RefreshAPI
import Testing

@testable import RefreshKit

/// Pushes that the real daemon hands to an attached app.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct PushTests {
  @Test func aPushIsHandedToTheHandlerWithItsContent() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { .newData("\($0.trigger) \($0.contentID ?? "") \($0.payload ?? "")") }
    let payload = #"{"aps":{"content-available":1},"content-id":42}"#
    #expect(try daemon.push(payload).fate == .queued)
    #expect(await stage.events(through: "ended").last == "ended 1-1 newData push 42 \(payload)")
  }

  @Test func aPushWithoutARefreshIsAnEvent() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .noData }
    #expect(try daemon.push(#"{"aps":{},"content-id":"a"}"#).fate == .told)
    #expect(await stage.events(through: "push") == [#"push a {"aps":{},"content-id":"a"}"#])
  }

  @Test func aDroppedPushIsAnEvent() async throws {
    let daemon = try Daemon(keys: "push_burst = 1\npush_per_hour = 1")
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .noData }
    // The first push wakes the app and 64 wait, so the next one drops the oldest of these.
    for number in 1...66 { _ = try daemon.push(#"{"aps":{"content-available":1},"content-id":\#(number)}"#) }
    #expect(await stage.events(through: "dropped").last?.hasPrefix("dropped 2 ") == true)
  }
}

extension Daemon {
  fileprivate func push(_ payload: String) throws -> AppInterface.Push.Reply {
    try ask(AppInterface.Push.self, .init(app: Self.app, payload: payload))
  }
}
