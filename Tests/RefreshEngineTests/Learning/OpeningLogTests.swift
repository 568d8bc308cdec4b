import Testing

@testable import RefreshEngine

/// The last openings, as they are kept.
@Suite struct OpeningLogTests {
  static func log(_ days: Range<Int>, timeslots: [Int]) -> OpeningLog {
    var log = OpeningLog()
    for day in days { for timeslot in timeslots { _ = log.opened(day: day, timeslot: timeslot) } }
    log.advance(to: days.upperBound)
    return log
  }

  @Test func `Several openings within ten minutes count as one`() {
    var log = OpeningLog()
    let isFirst = [3, 3, 4].map { log.opened(day: $0, timeslot: 70) }
    #expect(isFirst == [true, false, true])
    #expect(log.days.openings.map(\.day) == [3, 4])
  }

  @Test func `The oldest days go first, each as a whole`() {
    let log = Self.log(0..<100, timeslots: [50, 70])
    let days = log.days
    #expect(days.seen == Array(68..<100))
    #expect(days.openings.count == 64)
    #expect(days.timeslots(onDay: 99) == [50, 70])
  }

  @Test func `A day with more openings than there is room for keeps the last ones`() {
    var log = OpeningLog()
    for timeslot in 0..<144 { _ = log.opened(day: 0, timeslot: timeslot) }
    #expect(log.days.timeslots(onDay: 0).last == 143)
    #expect(log.days.openings.count <= OpeningLog.room)
  }

  @Test func `After a long time off a week counts as seen, and openings keep their day of the week`() {
    for off in [1, 6, 7, 8, 13, 14, 30, 365] {
      var log = Self.log(0..<8, timeslots: [70])
      log.advance(to: 8 + off)
      let days = log.days
      #expect(days.seen.count == 8 + min(off, 7))
      #expect(days.openings.map { $0.day % 7 } == (0..<8).map { $0 % 7 })
      #expect(days.seen.last.map { $0 < 8 + off } == true)
    }
  }

  @Test func `A clock or a zone that is set back leaves each opening its day of the week`() {
    for back in [1, 2, 7, 40] {
      var log = Self.log(100..<121, timeslots: [70])
      _ = log.opened(day: 121 - back, timeslot: 20)
      let mondays = log.days.openings.filter { $0.timeslot == 70 && $0.day % 7 == 0 }
      #expect(mondays.count == 3)
      #expect(log.days.openings.last?.timeslot == 20)
    }
  }
}
