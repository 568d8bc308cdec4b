import RefreshAPI
import Testing

@testable import refreshctl

/// Habits in the words of `why` and `usage`.
@Suite struct UsageTests {
  private static let week: [Wire.Weekday] = [.monday, .tuesday, .wednesday, .thursday, .friday]

  private static func habit(
    _ minute: Int = 720, on weekdays: [Wire.Weekday] = week, met: Int = 9, days: Int = 10
  ) -> Wire.Habit {
    Wire.Habit(minute: minute, spreadMinutes: 10, weekdays: weekdays, met: met, days: days)
  }

  /// A day of timeslots with so many openings in the timeslot of each minute, above as many everywhere.
  private static func day(_ openings: [Int: Double] = [:], above even: Double = 0) -> [Double] {
    (0..<144).map { timeslot in even + openings.filter { $0.key / 10 == timeslot }.values.reduce(0, +) }
  }

  @Test(arguments: [
    (week, "around 12:00 on weekdays (9 of the last 10)"),
    ([.saturday, .sunday], "around 12:00 on weekends (9 of the last 10)"),
    (Wire.Weekday.allCases, "around 12:00 every day (9 of the last 10)"),
    ([.sunday], "around 12:00 on Sundays (9 of the last 10)"),
    ([.monday, .tuesday, .friday], "around 12:00 on Mondays, Tuesdays and Fridays (9 of the last 10)"),
  ]) func `A habit is said with its days`(weekdays: [Wire.Weekday], words: String) {
    #expect(screen().words(Self.habit(on: weekdays)) == words)
  }

  private static func why(
    planned: Int64, habit: Wire.Habit?, freshUntil: Int64? = nil, isDormant: Bool = false
  ) -> Wire.Explanation {
    explanation(
      trigger: .interval, window: Wire.Window(earliestMicroseconds: planned, latestMicroseconds: planned),
      freshUntil: freshUntil,
      planning: Wire.Planning(
        plannedMicroseconds: planned, ceilingMicroseconds: noon + span(h: 72), worth: 1, price: 2, machinePrice: 2,
        cost: 1, newDataPerDay: 6, openingsPerDay: 1, openingsExpected: 0.1, likelyOpeningMinutes: 720, habit: habit,
        isDormant: isDormant))
  }

  @Test func `A refresh for a habit is explained by the habit`() {
    let planned = noon + span(d: 1, h: 23, m: 50)
    #expect(
      screen().sentence(Self.why(planned: planned, habit: Self.habit()))
        == "Todo (org.example.todo) is in the background. It is opened around 12:00 on weekdays (9 of the last 10), so it will be "
        + "refreshed in 2 d (Mon 23 Nov 11:50).")
  }

  @Test func `A refresh that the habit did not decide is explained by what did`() {
    let soon = noon + span(h: 1)
    let habit = Self.habit()
    for (why, reason) in [
      (Self.why(planned: soon, habit: habit, freshUntil: soon), "because its server has nothing newer before that."),
      (
        Self.why(planned: noon + span(h: 72), habit: habit, freshUntil: noon + span(h: 80)),
        "when its data reaches the age limit, although its server has nothing newer before Tue 24 Nov 20:00."
      ),
      (Self.why(planned: soon, habit: habit, isDormant: true), "it is hardly ever opened."),
      (
        Self.why(planned: noon - span(m: 20), habit: habit),
        "as soon as its background interval of 24h allows."
      ),
      (Self.why(planned: soon, habit: nil), "it is usually opened around 12:00."),
    ] {
      let sentence = screen().sentence(why)
      #expect(sentence.hasSuffix(reason), "\(sentence)")
      #expect(!sentence.contains("9 of the last 10"), "\(sentence)")
    }
  }

  @Test func `Openings that were seen are drawn apart from those that are assumed`() {
    let (seen, even) = (Self.day([700: 0.2, 725: 0.6]), 0.1 / 144)
    let habits = Wire.Habits(
      days: [
        Wire.KindOfDay(weekdays: Self.week, openings: Self.day([700: 0.2, 725: 0.6], above: even), seen: seen),
        Wire.KindOfDay(weekdays: [.saturday, .sunday], openings: Self.day(above: even), seen: Self.day()),
      ], named: [Self.habit(), Self.habit(20 * 60 + 30, on: [.sunday], met: 3, days: 4)], newDataPerDay: 6.5, cost: 1.5,
      pinned: [])
    func row(_ bars: [Int: String]) -> String { (0..<48).map { bars[$0] ?? " " }.joined() }
    #expect(
      screen().text(habits, reported: 3, observed: 12) == [
        "Openings by the half hour: those that were seen, and those that are assumed so far:",
        "  weekdays   \(row([23: "▃", 24: "█"]))  0.8 times a day",
        "  weekends   \(row([:]))  not seen yet",
        "  assumed    \(row([:]))  0.1 times a day",
        "             0     3     6     9     12    15    18    21    ",
        "  habits     opened around 12:00 on weekdays (9 of the last 10)",
        "             opened around 20:30 on Sundays (3 of the last 4)",
        "  openings   12 seen on a desktop, 3 reported by signals",
        "  new data   6.5 times a day",
        "  cost       1.5 of a typical refresh",
      ])
  }

  @Test func `Of an app that nobody opened nothing is drawn as seen`() {
    let habits = Wire.Habits(
      days: [Wire.KindOfDay(weekdays: Wire.Weekday.allCases, openings: Self.day(above: 0.5 / 144), seen: Self.day())],
      named: [], newDataPerDay: 6, cost: 1, pinned: [])
    let lines = screen().text(habits)
    #expect(lines[1] == "  every day   " + String(repeating: " ", count: 48) + "  not seen yet")
    #expect(lines[2].contains("▄▄▄▄"), "\(lines[2])")
    #expect(lines.contains("  habits      none that stands out yet"))
  }

  @Test func `A narrow screen has a bar for each hour, and no line that is wider`() {
    let habits = Wire.Habits(
      days: [Wire.KindOfDay(weekdays: Self.week, openings: Self.day([700: 1]), seen: Self.day([700: 1]))],
      named: [Self.habit()], newDataPerDay: 1, cost: 1, pinned: [])
    for width in [40, 60, 80, 200] {
      for line in screen(width: width).text(habits) { #expect(TextWidth.of(line) <= width, "\(line)") }
    }
    #expect(screen(width: 60).text(habits)[0].contains("by the hour"))
    #expect(screen(width: 60).text(habits).contains { $0.contains("█  once a day") || $0.contains("  once a day") })
  }
}
