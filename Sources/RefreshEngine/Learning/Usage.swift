/// When to expect openings of an app, as learnt or pinned, for people: `refreshctl usage` and `why`.
public struct Usage: Hashable, Sendable {
  /// The openings to expect in each timeslot of ten minutes, from Monday to Sunday.
  private var days: [[Double]]
  /// The supposed part of them: from the machine's other apps.
  private var supposed: [[Double]]
  /// The habits that have a name, by time of day.
  public var habits: [Habit]

  /// The openings to expect in each timeslot of ten minutes of a day.
  public func openings(onDay day: Int) -> [Double] { days[LocalTime.weekday(ofDay: day)] }

  /// The part of them that rests on openings that were seen, or on pins.
  public func seen(onDay day: Int) -> [Double] {
    zip(openings(onDay: day), supposed[LocalTime.weekday(ofDay: day)]).map { max($0 - $1, 0) }
  }

  /// The openings to expect a day, the mean of a week.
  public var openingsPerDay: Double { days.joined().reduce(0, +) / 7 }

  /// Makes the usage that a file pins.
  init(pinned minutes: [Int]) {
    days = [[Double]](repeating: ExpectedDay(pinned: minutes).openings, count: 7)
    supposed = [[Double]](repeating: [Double](repeating: 0, count: Use.timeslots), count: 7)
    habits = []
  }

  /// Makes the learnt usage for the week after a day, from everything that was seen until then.
  init(_ use: Use, today: Int, _ shared: SharedUse) {
    let first = today + 1
    let explained = use.explained((0..<7).map { first + LocalTime.weekday(ofDay: $0 - first) }, shared)
    days = explained.map(\.openings)
    supposed = explained.map(\.supposed)
    var mean = [Double](repeating: 0, count: Use.timeslots)
    for day in days { for timeslot in mean.indices { mean[timeslot] += day[timeslot] / 7 } }
    habits = Habit.named(use.log.days, expected: mean)
  }
}
