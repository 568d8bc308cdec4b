import RefreshEngine
import Testing

@testable import RefreshDaemon

@Suite struct OutputAllowanceTests {
  private static let second: Int64 = 1_000_000

  @Test func `an app may print its lines at once, and no more`() {
    var allowance = OutputAllowance()
    let first = admitted(of: &allowance, 1, at: 0)
    #expect(first == 1000)
    #expect(allowance.isSpent)
  }

  @Test func `a note says once how much was dropped`() {
    var dropped = DroppedLines()
    for _ in 1...4000 { dropped.add(1) }
    let (note, again) = (dropped.claimNote(), dropped.claimNote())
    #expect(note?.contains("dropped 4000 lines (8000 bytes)") == true)
    #expect(again == nil)
  }

  @Test func `an app may print its bytes at once, and no more`() {
    var allowance = OutputAllowance()
    let first = admitted(of: &allowance, 2048, at: 0)
    #expect(first == 512)
  }

  @Test func `it comes back with time, a quarter at a time`() {
    var allowance = OutputAllowance()
    for _ in 1...1001 { _ = allowance.admits(1, at: 0) }
    let early = allowance.admits(1, at: 7 * Self.second)
    #expect(!early)
    let quarter = admitted(of: &allowance, 1, at: 8 * Self.second)
    #expect(quarter == 266)
    let whole = admitted(of: &allowance, 1, at: 100 * Self.second)
    #expect(whole == 1000)
  }

  @Test func `what an app prints in an hour is bounded by its rate`() {
    var allowance = OutputAllowance()
    var admitted = 0
    for millisecond in 0..<3_600_000 where allowance.admits(0, at: Int64(millisecond) * 1000) { admitted += 1 }
    #expect((120_000...122_000).contains(admitted))
  }

  @Test func `an app that is quiet is forgotten`() {
    var allowance = OutputAllowance()
    let atFirst = allowance.isFull(at: 0)
    #expect(atFirst)
    for _ in 1...1001 { _ = allowance.admits(1, at: 0) }
    let soon = allowance.isFull(at: 20 * Self.second)
    #expect(!soon)
    let later = allowance.isFull(at: 60 * Self.second)
    #expect(later)
  }

  @Test func `an app's tasks share one meter, and quiet apps are forgotten`() throws {
    let meters = OutputMeters()
    let app = try #require(AppID("org.example.todo"))
    let meter = meters.meter(of: app, at: 0)
    _ = meter.allowance.admits(1, at: 0)
    #expect(meters.meter(of: app, at: 0) === meter)
    for number in 1...64 { _ = meters.meter(of: try #require(AppID("org.example.a\(number)")), at: 60 * Self.second) }
    #expect(meters.meter(of: app, at: 60 * Self.second) !== meter)
  }

  /// How many of five thousand lines of a length pass at an instant.
  private func admitted(of allowance: inout OutputAllowance, _ bytes: Int, at now: Int64) -> Int {
    var admitted = 0
    for _ in 1...5000 where allowance.admits(bytes, at: now) { admitted += 1 }
    return admitted
  }
}
