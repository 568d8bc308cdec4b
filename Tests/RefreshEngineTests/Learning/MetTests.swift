import Testing

@testable import RefreshEngine

/// A habit that was met today is not waited for again, also where the opening itself needed no refresh.
@Suite struct MetTests {
  /// An app that is opened around noon, whose data is never too old for the user; on the twenty-ninth day, so many minutes
  /// after noon, with the refreshes of that day.
  private static func refreshes(openedAt opening: Double?, until end: Double) -> [Double] {
    var app = LivedApp(
      Policy(
        foregroundInterval: .never, backgroundInterval: .auto(floor: .minutes(15)), onForeground: .never,
        tasks: [TaskPolicy(name: "task")]))
    app.openAtNoon(days: 28, spread: 40)
    let noon = 28.0 * 1440 + 720
    if let opening { app.open(at: noon + opening) }
    app.pass(until: noon + end)
    return app.starts.map { $0.at - noon }.filter { $0 > opening ?? -60 }
  }

  @Test func `After an early opening no refresh comes for the one that was expected`() throws {
    let missed = Self.refreshes(openedAt: nil, until: 60)
    let first = try #require(missed.first, "no refresh for the habit")
    // A minute after the first refresh for the habit its data is fresh, and the opening needs no refresh.
    let met = Self.refreshes(openedAt: first + 1, until: 60)
    #expect(missed.count >= 2 && met.isEmpty, "\(met) after the opening, \(missed) without one")
  }
}
