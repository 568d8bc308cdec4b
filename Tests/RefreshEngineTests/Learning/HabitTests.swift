import Testing

@testable import RefreshEngine

/// How soon the learners know a habit, and how soon they know that it changed.
@Suite("Habits")
struct HabitTests {
  static let typical = 6 / LocalTime.minutesOfDay

  /// The expectation for an app that was opened for some weeks at a minute of the day that the kind of day decides.
  static func usage(week: Double?, weekend: Double?, days: Int = 42) -> Usage {
    let use = UseTests.use(0..<days, scatter: 2) { (LocalTime.isWeekend(day: $0) ? weekend : week).map { [$0] } ?? [] }
    return Usage(use, today: days, UseTests.shared)
  }

  /// The timeslot of most openings.
  static func peak(_ day: [Double]) -> Int { day.indices.max { day[$0] < day[$1] } ?? 0 }

  @Test("a user who sleeps long on weekends is expected later on them, and not on the days of the week")
  func weekends() {
    let usage = Self.usage(week: 7 * 60, weekend: 11 * 60)
    #expect(abs(Self.peak(usage.openings(onDay: 2)) - 42) <= 3)
    #expect(abs(Self.peak(usage.openings(onDay: 5)) - 66) <= 3)
  }

  @Test("an app for work is hardly expected on weekends")
  func work() {
    let usage = Self.usage(week: 9 * 60, weekend: nil)
    #expect(usage.openings(onDay: 6).reduce(0, +) < 0.2 * usage.openings(onDay: 0).reduce(0, +))
  }

  @Test("what was opened today is expected on every day, today's day of the week among them")
  func today() {
    let app = UseTests.use(0..<10, scatter: 0) { $0 == 9 ? [720] : [] }
    let usage = Usage(app, today: 9, UseTests.shared)
    let noons = (0..<7).map { usage.openings(onDay: $0)[72] }
    #expect(noons.allSatisfy { $0 > 0.5 * noons.reduce(0, +) / 7 }, "\(noons)")
  }

  @Test("where weekends are like other days, the two kinds of day are not told apart")
  func everyDay() {
    let usage = Self.usage(week: 8 * 60, weekend: 8 * 60)
    for (week, weekend) in zip(usage.openings(onDay: 0), usage.openings(onDay: 6)) {
      #expect(abs(week - weekend) < 0.05)
    }
  }

  @Test("a user who comes at noon is expected around noon after three days")
  func soon() {
    let usage = Self.usage(week: 720, weekend: 720, days: 3)
    #expect((69...74).contains(Self.peak(usage.openings(onDay: 3))))
  }

  /// Syncs every four hours of a source with an update every so many minutes.
  static func watch(_ rate: inout NewDataRate, days: Range<Int>, minutesBetween: Int) {
    for end in stride(from: days.lowerBound * 1440 + 240, through: days.upperBound * 1440, by: 240) {
      let foundNew = end / minutesBetween > (end - 240) / minutesBetween
      rate.observe(gap: 240, endingAt: LocalTime(minutes: Double(end)), foundNew: foundNew, typical: typical)
    }
  }

  @Test("a quiet source that turns busy is known as busy within three days, and one that falls silent within a week")
  func change() {
    var rate = NewDataRate()
    Self.watch(&rate, days: 0..<40, minutesBetween: 1440)
    let quiet = rate.mean(typical: Self.typical) * 1440
    Self.watch(&rate, days: 40..<43, minutesBetween: 60)
    let busy = rate.mean(typical: Self.typical) * 1440
    Self.watch(&rate, days: 43..<50, minutesBetween: 100_000)
    let silent = rate.mean(typical: Self.typical) * 1440
    #expect((0.5...2).contains(quiet))
    #expect(busy > 6)
    #expect(silent < 1)
  }

  @Test("a source that has something new at night only is not expected to have it by day")
  func night() {
    var rate = NewDataRate()
    for end in stride(from: 180, through: 40 * 1440, by: 180) {
      rate.observe(
        gap: 180, endingAt: LocalTime(minutes: Double(end)), foundNew: (end - 1) % 1440 < 360, typical: Self.typical)
    }
    let blocks = rate.blocks(typical: Self.typical)
    for night in 0..<2 { for day in 2..<8 { #expect(blocks[night] > 5 * blocks[day]) } }
  }

  @Test("no number of syncs in which nothing can be true makes a rate that is no number")
  func sound() {
    var rate = NewDataRate()
    for turn in 0..<2000 {
      let end = LocalTime(minutes: Double(turn))
      rate.observe(gap: turn % 2 == 0 ? 0.5 : 2880, endingAt: end, foundNew: turn % 2 == 0, typical: Self.typical)
    }
    let mean = rate.mean(typical: Self.typical)
    #expect(mean.isFinite && mean > 0)
  }
}
