import Testing

@testable import RefreshEngine

/// When the user is expected, after some weeks of openings.
@Suite struct UseTests {
  static let shared = SharedUse()
  /// Minutes by which a user is early or late, as if drawn with a deviation of ten.
  private static let late = [-16.0, 4, -3, 9, 0, -10, 16, -6, 6, -1, 12, -12, 2]

  /// The use learnt of an app that is opened at some minutes of each day, each some minutes early or late.
  static func use(
    _ days: Range<Int>, after past: Use = Use(), scatter: Double = 1, _ minutes: (Int) -> [Double]
  ) -> Use {
    var use = past
    for day in days {
      for (number, minute) in minutes(day).enumerated() {
        let off = late[(day * 5 + number * 3) % late.count] * scatter
        use.opened(at: LocalTime(minutes: Double(day) * LocalTime.minutesOfDay + minute + off))
      }
      use.passDays(day..<(day + 1), shared)
    }
    return use
  }

  /// Minutes by which a user is early or late, for the number of an opening.
  static func off(_ number: Int) -> Double { late[number % late.count] }

  static func expected(_ use: Use, onDay day: Int) -> ExpectedDay { use.expected(day..<(day + 1), shared)[0] }

  /// Openings expected within half an hour of a minute.
  static func around(_ minute: Int, _ openings: [Double]) -> Double {
    openings[(minute / 10 - 3)..<(minute / 10 + 3)].reduce(0, +)
  }

  @Test func `A habit of ten minutes either way is known to the timeslot after two weeks`() {
    let day = Self.expected(Self.use(0..<14) { _ in [720] }, onDay: 14)
    // Two timeslots before noon and two after it hold nearly all.
    #expect(day.openings[70..<74].reduce(0, +) > 0.65)
    #expect(day.openings.reduce(0, +) < 1.2)
    // While it was not met, it is nearly sure to be.
    #expect(Self.around(720, day.unmet) > 1.3)
  }

  @Test func `Until the first midnight an opening says little of how many follow`() {
    /// Openings a day of the week by the broad peaks alone.
    func openings(_ use: Use) -> Double { use.coarse(Self.shared)[0][0].reduce(0, +) }
    var use = Use()
    #expect(abs(openings(use) - 0.75) < 0.01)
    for opening in 0..<10 { use.opened(at: LocalTime(minutes: 480 + Double(opening) * 30)) }
    #expect(abs(openings(use) - 2) < 0.01)
    use.passDays(0..<1, Self.shared)
    #expect(abs(openings(use) - 5.25) < 0.1)
  }

  @Test func `An opening that came once is not taken for a habit, and one with others near it is`() {
    func expected(_ others: [Int: Double]) -> [Double] {
      let use = Self.use(0..<14, scatter: 0) { day in [720] + (others[day].map { [$0] } ?? []) }
      return Self.expected(use, onDay: 14).openings
    }
    let once = Self.around(1080, expected([10: 1080]))
    let often = Self.around(1080, expected([4: 1070, 7: 1095, 10: 1080]))
    #expect(often > 5 * once, "\(often) an opening of three, \(once) one of one")
    #expect(Self.around(720, expected([10: 1080])) > 0.8)
  }

  @Test func `A habit at midnight is known as well as one at noon`() {
    func expected(_ minutes: [Double]) -> [Double] {
      var (use, shared) = (Use(), SharedUse())
      shared.pool = [Float](repeating: 1 / Float(Use.halfHours), count: Use.halfHours)
      for day in 0..<6 {
        use.opened(at: LocalTime(minutes: Double(day) * LocalTime.minutesOfDay + minutes[day % minutes.count]))
        use.passDays(day..<(day + 1), shared)
      }
      return use.expected(6..<7, shared)[0].openings
    }
    let (noon, midnight) = (expected([715, 725]), expected([1435, 5]))
    for timeslot in 0..<Use.timeslots {
      #expect(abs(midnight[timeslot] - noon[(timeslot + 72) % Use.timeslots]) < 0.001)
    }
  }

  @Test func `Before anything is seen, nobody is expected at night`() {
    let openings = Self.expected(Use(), onDay: 0).openings
    #expect(Self.around(180, openings) < 0.4 * Self.around(900, openings))
  }

  @Test func `Broad peaks stay broad, and an opening there does not rule out the next`() {
    // About four openings a day, each timeslot of five hours as likely as the next.
    var random: UInt64 = 1
    let use = Self.use(0..<28, scatter: 0) { _ in
      (Array(36..<66) + Array(108..<138)).filter { _ in
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (random >> 33) % 100 < 7
      }.map { Double($0) * 10 }
    }
    let day = Self.expected(use, onDay: 28)
    #expect((day.openings.max() ?? 1) < 0.2)
    #expect(abs(day.openings.reduce(0, +) - 4) < 1.2)
    #expect(day.rest.allSatisfy { $0 > 0.8 })
    #expect(Usage(use, today: 28, Self.shared).habits.isEmpty)
  }

  @Test func `An app for Sundays is expected on Sundays only`() {
    let use = Self.use(0..<56) { $0 % 7 == 6 ? [600] : [] }
    #expect(Self.around(600, Self.expected(use, onDay: 62).openings) > 0.5)
    for day in 56..<62 { #expect(Self.expected(use, onDay: day).openings.reduce(0, +) < 0.15) }
  }

  @Test func `Two days of the week have habits of their own`() {
    let use = Self.use(0..<42) { [1: [1080], 3: [1200]][$0 % 7] ?? [] }
    let (tuesday, thursday) = (Self.expected(use, onDay: 43).openings, Self.expected(use, onDay: 45).openings)
    #expect(Self.around(1080, tuesday) > 0.5 && Self.around(1200, tuesday) < 0.15)
    #expect(Self.around(1200, thursday) > 0.5 && Self.around(1080, thursday) < 0.15)
  }

  @Test(arguments: [(60, "an hour, as daylight saving moves it"), (360, "another zone"), (-210, "a new job")])
  func `A habit that moves is followed within a week`(by minutes: Int, _: String) {
    let before = Self.use(0..<28) { _ in [720] }
    let day = Self.expected(Self.use(28..<35, after: before) { _ in [720 + Double(minutes)] }, onDay: 35).openings
    let (new, old) = (Self.around(720 + minutes, day), Self.around(720, day))
    #expect(new > 0.5)
    #expect(new > 2 * old)
  }

  @Test func `One day off is not followed, and a week of holiday does not make a habit forgotten`() {
    let before = Self.use(0..<28) { _ in [720] }
    let usual = Self.around(720, Self.expected(before, onDay: 28).openings)
    let off = Self.use(28..<29, after: before) { _ in [] }
    #expect(Self.around(720, Self.expected(off, onDay: 29).openings) > 0.85 * usual)
    let holiday = Self.use(28..<35, after: before) { _ in [] }
    let back = Self.use(35..<38, after: holiday) { _ in [720] }
    #expect(Self.around(720, Self.expected(back, onDay: 38).openings) > 0.6 * usual)
  }

  @Test func `A habit that was met today is hardly expected again today, and as before tomorrow`() {
    var use = Self.use(0..<28) { _ in [720] }
    let before = use.expected(28..<30, Self.shared)
    use.opened(at: LocalTime(minutes: 28 * LocalTime.minutesOfDay + 705))
    let after = use.expected(28..<30, Self.shared)
    #expect(Self.around(720, before[0].conditional) > 1)
    #expect(Self.around(720, after[0].conditional) < 0.25 * Self.around(720, before[0].conditional))
    #expect(Self.around(720, after[1].conditional) > 0.9 * Self.around(720, before[1].conditional))
  }

  @Test func `A habit is named with its days and how often it was met`() throws {
    let use = Self.use(0..<28) { $0 % 7 < 5 && $0 != 22 ? [720] : [] }
    let habit = try #require(Usage(use, today: 28, Self.shared).habits.first)
    #expect(abs(habit.minuteOfDay - 720) <= 5)
    #expect((5...15).contains(habit.spread))
    #expect(habit.weekdays == 0x1F)
    #expect(habit.met == 9)
    #expect(habit.days == 10)
  }

  @Test func `What is only supposed is told from what was seen`() {
    let none = Usage(Use(), today: 0, Self.shared)
    #expect(none.seen(onDay: 0).reduce(0, +) < 0.01)
    let usage = Usage(Self.use(0..<28) { _ in [720] }, today: 28, Self.shared)
    let (seen, all) = (usage.seen(onDay: 0), usage.openings(onDay: 0))
    #expect(Self.around(720, seen) > 0.9 * Self.around(720, all))
    #expect(Self.around(180, seen) < 0.01)
  }
}
