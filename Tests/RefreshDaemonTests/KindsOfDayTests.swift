import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// Days of the week that are alike are shown as one.
@Suite struct KindsOfDayTests {
  private static let weekdays: [Wire.Weekday] = [.monday, .tuesday, .wednesday, .thursday, .friday]

  /// The kinds of days of an app that was opened at a minute of some days, 0 for a Monday.
  private static func kinds(afterDays days: Int, openedAt minute: (Int) -> Double?) -> [Wire.KindOfDay] {
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    for day in 0..<days {
      app.passNights(upTo: day, device)
      guard let minute = minute(day) else { continue }
      app.opened(at: LocalTime(minutes: Double(day) * 1_440 + minute))
    }
    return Wire.KindOfDay.kinds(of: app.usage(device, Pins()))
  }

  @Test func `An app that nobody has opened has seen nothing, and all days of its week are alike`() {
    let kinds = Self.kinds(afterDays: 15) { _ in nil }
    #expect(kinds.map(\.weekdays) == [Wire.Weekday.allCases])
    #expect(kinds.allSatisfy { $0.openings.reduce(0, +) > 0 && abs($0.seen.reduce(0, +)) < 1e-9 })
  }

  @Test func `An app that is opened each day has seen most of what is expected of it`() {
    let kinds = Self.kinds(afterDays: 28) { _ in 720 }
    #expect(kinds.map(\.weekdays) == [Wire.Weekday.allCases])
    for kind in kinds {
      let (seen, expected) = (kind.seen.reduce(0, +), kind.openings.reduce(0, +))
      #expect(seen > 0.75 * expected && seen < expected, "\(seen) of \(expected)")
      #expect(zip(kind.seen, kind.openings).allSatisfy { $0 >= -1e-9 && $0 <= $1 + 1e-9 })
    }
  }

  @Test func `Weekends that are used otherwise are shown apart`() {
    let kinds = Self.kinds(afterDays: 56) { $0 % 7 < 5 ? 480 : nil }
    #expect(kinds.map(\.weekdays) == [Self.weekdays, [.saturday, .sunday]])
  }
}
