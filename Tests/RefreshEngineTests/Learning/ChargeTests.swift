import Testing

@testable import RefreshEngine

/// Only refreshes that the price chose are charged to it.
@Suite struct ChargeTests {
  private static func policy(
    _ interval: BackgroundInterval = .auto(floor: .hours(1)), maxStale: Duration? = nil,
    onForeground: OnForeground = .stale
  ) -> Policy {
    var policy = Policy(backgroundInterval: interval, onForeground: onForeground, tasks: [TaskPolicy(name: "task")])
    policy.maxStale = maxStale
    return policy
  }

  /// An app that was opened at noon for a week, at half past midnight of the eighth day: the night is over.
  private static func app(_ policy: Policy) -> LivedApp {
    var app = LivedApp(policy)
    app.openAtNoon(days: 7)
    app.pass(until: 7 * 1440 + 30)
    return app
  }

  /// The charge for the refreshes from now until a minute of the eighth day, and what asked for each.
  private static func charge(_ app: inout LivedApp, until minute: Double) -> (charged: Float, refreshes: [Trigger]) {
    let (before, count) = (app.charged, app.starts.count)
    app.pass(until: 7 * 1440 + minute)
    return (app.charged - before, app.starts.dropFirst(count).map(\.trigger))
  }

  @Test func `A refresh that the plan chose is charged`() {
    var app = Self.app(Self.policy())
    let (charged, refreshes) = Self.charge(&app, until: 720)
    #expect(!refreshes.isEmpty && refreshes.allSatisfy { $0 == .interval })
    #expect(charged == Float(refreshes.count))
  }

  @Test func `Refreshes in the foreground are not charged, whether time asks for them or the user comes`() throws {
    var app = Self.app(Self.policy(onForeground: .always))
    app.pass(until: 7 * 1440 + 725)
    let before = app.charged
    let id = try #require(LivedApp.id)
    app.handle(.signalled(id, .foreground))
    #expect(app.starts.last?.trigger == .foreground)
    let (charged, refreshes) = Self.charge(&app, until: 760)
    #expect(refreshes.count >= 5 && refreshes.allSatisfy { $0 == .interval })
    #expect(charged == 0 && app.charged == before)
  }

  @Test(arguments: [Trigger.manual, .push]) func `A refresh that somebody asks for is not charged`(
    trigger: Trigger
  ) throws {
    var app = Self.app(Self.policy())
    let before = app.charged
    app.handle(.requested(try #require(LivedApp.id), trigger))
    app.pass(until: app.now + 1)
    #expect(app.starts.last?.trigger == trigger)
    #expect(app.charged == before)
  }

  @Test func `A retry is not charged, the refresh that failed before it is`() {
    var app = Self.app(Self.policy())
    app.exit = .exited(75)
    let (charged, refreshes) = Self.charge(&app, until: 720)
    #expect(refreshes.count { $0 == .retry } >= 2)
    #expect(charged == Float(refreshes.count { $0 == .interval }))
  }

  @Test func `A refresh that the ceiling forces is not charged`() {
    // Nobody opens the app at night, and its file wants data that is no older than two hours.
    var app = Self.app(Self.policy(maxStale: .hours(2)))
    let (charged, refreshes) = Self.charge(&app, until: 400)
    #expect(refreshes.count >= 2 && refreshes.allSatisfy { $0 == .interval })
    #expect(charged == 0)
  }
}
