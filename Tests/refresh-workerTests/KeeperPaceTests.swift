import Testing

@testable import refresh_worker

@Suite struct KeeperPaceTests {
  @Test func `A unit is stopped five times in a minute, and then waits for the first of these to be a minute ago`() {
    var pace = KeeperPace()
    for second in 0..<5 {
      #expect(pace.wait(at: Int64(second) * 1_000_000) == nil)
      pace.countStop(at: Int64(second) * 1_000_000)
    }
    #expect(pace.wait(at: 10_000_000) == 50_000_000)
    #expect(pace.wait(at: 60_000_000) == nil)
    pace.countStop(at: 60_000_000)
    #expect(pace.wait(at: 60_500_000) == 500_000)
  }
}
