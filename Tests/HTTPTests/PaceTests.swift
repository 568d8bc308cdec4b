import Testing

@testable import HTTP

/// Holds the rate of a limited exchange.
struct PaceTests {
  private let start = ContinuousClock.now

  /// The time until this many bytes have passed in pieces, with a check every millisecond.
  private func time(for bytes: Int, piece: Int, at pace: inout Pace) -> Duration {
    var now = start
    var gone = 0
    while gone < bytes {
      if pace.opens(after: now) == nil {
        pace.consume(piece, at: now)
        gone += piece
      } else {
        now += .milliseconds(1)
      }
    }
    return start.duration(to: pace.opens(after: now) ?? now)
  }

  @Test(arguments: [(1_000, 100), (1_000_000, 16_384), (100_000_000, 16_384)])
  func bytesTakeTheTimeThatTheRateSays(rate: Int, piece: Int) {
    var pace = Pace(rate: Int64(rate))
    let taken = time(for: rate * 3, piece: piece, at: &pace)
    #expect(taken > .milliseconds(2_900) && taken < .milliseconds(3_100), "\(taken)")
  }

  @Test func withoutARateNothingWaits() {
    var pace = Pace(rate: nil)
    #expect(time(for: 1 << 30, piece: 1 << 20, at: &pace) == .zero)
  }

  @Test func aBoundThatIsLiftedLeavesNoDebt() {
    var pace = Pace(rate: 1)
    pace.consume(1000, at: start)
    #expect(pace.opens(after: start) == start + .seconds(1000))
    pace.change(to: nil, at: start)
    #expect(pace.opens(after: start) == nil)
  }

  @Test(arguments: [(1_000, 10), (10, 1_000)] as [(Int64, Int64)])
  func whatIsOwedIsPaidForAtTheNewRate(old: Int64, new: Int64) {
    var pace = Pace(rate: old)
    pace.consume(5_000, at: start)
    pace.change(to: new, at: start)
    let opens = pace.opens(after: start).map { start.duration(to: $0) }
    #expect(opens == .seconds(5_000 / new))
  }

  @Test func noMoreGoesAtOnceThanInAQuarterOfASecond() {
    #expect(Pace(rate: 1_000).portion(of: 262_144) == 250)
    #expect(Pace(rate: 1).portion(of: 262_144) == 1)
    #expect(Pace(rate: 1 << 30).portion(of: 262_144) == 262_144)
    #expect(Pace(rate: nil).portion(of: 262_144) == 262_144)
  }

  @Test func timeThatWentUnusedIsNotMadeUpFor() {
    var pace = Pace(rate: 1_000)
    pace.consume(1, at: start)
    let later = start + .seconds(3600)
    pace.consume(1_000, at: later)
    let opens = pace.opens(after: later)
    #expect(opens.map { later.duration(to: $0) > .milliseconds(900) } == true)
  }
}
