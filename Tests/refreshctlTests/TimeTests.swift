import Testing

@testable import refreshctl

@Suite struct TimeTests {
  private static let distances: [(Int64, String)] = [
    (0, "now"), (999_999, "now"), (-999_999, "now"), (span(s: 1), "in 1 s"), (-span(s: 12), "12 s ago"),
    (59_400_000, "in 59 s"), (59_600_000, "in 1 min"), (span(m: 4, s: 59), "in 5 min"),
    (span(m: 59, s: 40), "in 1 h"), (span(h: 2, m: 12), "in 2 h 12 min"), (-span(h: 3), "3 h ago"),
    (span(h: 23, m: 59, s: 50), "in 1 d"), (span(d: 3, h: 4), "in 3 d 4 h"), (-span(d: 34, h: 1), "34 d ago"),
  ]

  @Test(arguments: distances) func aPointInTimeIsRelativeToNow(_ distance: Int64, _ text: String) {
    #expect(screen().relative(noon + distance) == text)
  }

  /// Another program may send such times; the arithmetic must not overflow.
  @Test(arguments: [Int64.min, -1 << 61, 1 << 61, .max]) func aPointBeyondAllCalendarsIsFarAway(_ point: Int64) {
    #expect(screen().relative(point).hasSuffix(" d ago") == (point < 0))
    #expect(!screen().clock(point).isEmpty)
  }

  private static let briefDistances: [(Int64, String)] = [
    (span(h: 5, m: 10), "in 5 h"), (span(h: 1, m: 40), "in 1 h 40 min"), (span(h: 2, m: 40), "in 2 h 40 min"),
    (-span(d: 9, h: 10), "9 d ago"), (-span(d: 1, h: 13), "1 d 13 h ago"), (span(s: 90), "in 2 min"),
  ]

  @Test(arguments: briefDistances) func oneUnitIsEnoughInAColumnWhereItIsNearlyTrue(_ distance: Int64, _ text: String) {
    #expect(screen().relative(noon + distance, brief: true) == text)
  }

  private static let durations: [(Int64, String)] = [
    (400, "0 ms"), (350_000, "350 ms"), (999_600, "1.0 s"), (1_800_000, "1.8 s"), (9_960_000, "10 s"),
    (span(s: 30), "30 s"), (span(m: 2, s: 5), "2 min 5 s"), (span(h: 1, m: 3), "1 h 3 min"),
  ]

  @Test(arguments: durations) func aDurationIsRoundedToTheUnitsThatMatter(_ duration: Int64, _ text: String) {
    #expect(Elapsed.measured(duration) == text)
  }

  private static let dates: [(Int64, String)] = [
    (-span(m: 5), "today 11:55:00"), (-span(h: 5, m: 58), "today 06:02"), (-span(h: 13), "yesterday 23:00"),
    (span(h: 12), "tomorrow 00:00"), (-span(d: 2), "Thu 19 Nov 12:00"), (span(d: 60), "20 Jan 2027 12:00"),
  ]

  @Test(arguments: dates) func theClockNamesTheDay(_ distance: Int64, _ text: String) {
    #expect(screen().clock(noon + distance) == text)
  }
}

@Suite struct ByteCountTests {
  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (1_234, "1.2 kB"), (52_000, "52 kB"), (999_499, "999 kB"),
    (3_400_000, "3.4 MB"), (12_345_678, "12 MB"), (1_500_000_000, "1.5 GB"), (2_000_000_000_000, "2000 GB"),
  ])
  func theUnitIsTheOneThatMatters(bytes: Int64, text: String) { #expect(ByteCount.text(bytes) == text) }
}
