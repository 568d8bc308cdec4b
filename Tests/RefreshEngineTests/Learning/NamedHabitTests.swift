import Testing

@testable import RefreshEngine

/// A habit explains a refresh, and days of the week that are alike are shown as one.
@Suite("Named habits")
struct NamedHabitTests {
  static let weekdays: UInt8 = 0x1F
  static let everyDay: UInt8 = 0x7F

  static func habit(_ minute: Int, on days: UInt8 = everyDay) -> Habit {
    Habit(minuteOfDay: minute, spread: 10, weekdays: days, met: 9, days: 10)
  }

  static func usage(_ habits: [Habit]) -> Usage {
    var usage = AppHabits().usage(DeviceHabits(budget: Budget(profile: .balanced)), Pins())
    usage.habits = habits
    return usage
  }

  /// Minute `minute` of a day, 0 for a Monday.
  static func moment(_ day: Int, _ minute: Double) -> LocalTime {
    LocalTime(minutes: Double(day) * LocalTime.minutesOfDay + minute)
  }

  @Test("a refresh shortly before a habit is explained by it; one hours before, after it, or on another day is not")
  func soon() {
    let noon = Self.habit(720, on: Self.weekdays)
    let usage = Self.usage([noon])
    #expect(usage.habit(after: Self.moment(0, 710)) == noon)
    #expect(usage.habit(after: Self.moment(4, 600)) == noon)
    #expect(usage.habit(after: Self.moment(0, 400)) == nil)
    #expect(usage.habit(after: Self.moment(0, 721)) == nil)
    #expect(usage.habit(after: Self.moment(5, 710)) == nil)
  }

  @Test("the next of several habits explains it, across midnight too")
  func next() {
    let (late, early) = (Self.habit(30), Self.habit(23 * 60))
    let usage = Self.usage([late, early])
    #expect(usage.habit(after: Self.moment(0, 22 * 60 + 50)) == early)
    #expect(usage.habit(after: Self.moment(0, 23 * 60 + 30)) == late)
    #expect(usage.habit(after: Self.moment(6, 23 * 60 + 30)) == late)
  }

  @Test("an app that nobody has opened has seen nothing, and all days of its week are alike")
  func nothing() {
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    for day in 1...14 { app.passNights(upTo: day, device) }
    let kinds = app.usage(device, Pins()).kindsOfDay
    #expect(kinds.map(\.weekdays) == [Self.everyDay])
    #expect(kinds.allSatisfy { $0.openings.reduce(0, +) > 0 && abs($0.seen.reduce(0, +)) < 1e-9 })
  }

  @Test("an app that is opened each day has seen most of what is expected of it")
  func seen() {
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    for day in 0..<28 {
      app.passNights(upTo: day, device)
      app.opened(at: Self.moment(day, 720))
    }
    let kinds = app.usage(device, Pins()).kindsOfDay
    #expect(kinds.map(\.weekdays) == [Self.everyDay])
    for kind in kinds {
      let (seen, expected) = (kind.seen.reduce(0, +), kind.openings.reduce(0, +))
      #expect(seen > 0.75 * expected && seen < expected, "\(seen) of \(expected)")
      #expect(zip(kind.seen, kind.openings).allSatisfy { $0 >= -1e-9 && $0 <= $1 + 1e-9 })
    }
  }

  @Test("weekends that are used otherwise are shown apart")
  func kinds() {
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    for day in 0..<56 {
      app.passNights(upTo: day, device)
      if !LocalTime.isWeekend(day: day) { app.opened(at: Self.moment(day, 480)) }
    }
    #expect(app.usage(device, Pins()).kindsOfDay.map(\.weekdays) == [Self.weekdays, 0x60])
  }
}
