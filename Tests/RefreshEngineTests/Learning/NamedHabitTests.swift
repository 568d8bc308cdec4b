import Testing

@testable import RefreshEngine

/// A habit explains a refresh.
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
}
