import Testing

@testable import RefreshEngine

/// A plan is made for a time of day, and follows the clock on the wall where that jumps.
@Suite struct JumpTests {
  private static let hour: Int64 = 3_600_000_000
  /// Unix time of the Monday that begins the fourth week, and the twenty-first day after the first.
  private static let monday = PlanningTests.monday.inMicroseconds + 21 * 24 * hour

  /// An app that was opened at noon for three weeks, half an hour into the next day.
  private static func app(_ zone: Zone = .utc) -> LivedApp {
    var app = LivedApp(
      Policy(backgroundInterval: .auto(floor: .hours(4)), tasks: [TaskPolicy(name: "task")]), zone: zone)
    app.openAtNoon(days: 21)
    app.pass(until: 21 * 1440 + 30)
    return app
  }

  /// Hours after midnight of the fourth Monday at which the app is refreshed before it is opened, boot clock.
  private static func refreshed(_ app: LivedApp, before end: Double) -> Double? {
    app.starts.last { $0.at > 21 * 1440 + 180 && $0.at < 21 * 1440 + end * 60 }.map { ($0.at - 21 * 1440) / 60 }
  }

  /// Passes the morning, and gives when the app was refreshed last before the clock on the wall shows noon.
  private static func morning(_ app: inout LivedApp, noon: Double) throws -> Double {
    app.pass(until: 21 * 1440 + noon * 60)
    return try #require(refreshed(app, before: noon), "no refresh before noon")
  }

  @Test func `On a day like the others the app is refreshed shortly before noon`() throws {
    var app = Self.app()
    #expect((11.5...12).contains(try Self.morning(&app, noon: 12)))
  }

  @Test(arguments: [3.0, -5]) func `A journey to another time zone moves the plan at once`(hours: Double) throws {
    var app = Self.app()
    app.handle(.zoneChanged(Zone(offset: Int32(hours * 3600))))
    #expect((11.5...12).contains(try Self.morning(&app, noon: 12 - hours) + hours))
  }

  @Test(arguments: [3.0, -5]) func `A journey while refreshd is off moves the plan at its start`(hours: Double) throws {
    var app = Self.app()
    app.restart(in: Zone(offset: Int32(hours * 3600)))
    #expect((11.5...12).contains(try Self.morning(&app, noon: 12 - hours) + hours))
  }

  @Test func `A start in the same zone leaves the plan as it is`() {
    var app = Self.app()
    let before = app.planned
    app.restart(in: .utc)
    app.pass(until: 21 * 1440 + 40)
    #expect(app.planned == before)
  }

  @Test(arguments: [1.0, -1]) func `The morning after daylight saving begins or ends the plan is right`(
    hours: Double
  ) throws {
    let change = Zone.Change(at: Self.monday + 2 * Self.hour, offset: Int32(hours * 3600))
    var app = Self.app(Zone(offset: 0, changes: [change]))
    #expect((11.5...12).contains(try Self.morning(&app, noon: 12 - hours) + hours))
  }

  @Test(arguments: [2.0, -2]) func `A clock that somebody sets moves the plan at once`(hours: Double) throws {
    var app = Self.app()
    let step = Duration.microseconds(Int64(hours * Double(Self.hour)))
    app.handle(.clockStepped(wallOffset: PlanningTests.monday + step))
    #expect((11.5...12).contains(try Self.morning(&app, noon: 12 - hours) + hours))
  }

  @Test func `A clock that is set right by seconds leaves the plan as it is`() {
    var app = Self.app()
    let before = app.planned
    app.handle(.clockStepped(wallOffset: PlanningTests.monday + .seconds(20)))
    app.pass(until: 21 * 1440 + 40)
    #expect(app.planned == before)
  }
}
