/// When an app is expected to be opened, as learnt or pinned, for people: `refreshctl usage` and `why`.
public struct Usage: Hashable, Sendable {
  /// Openings expected in each slot of ten minutes, from Monday to Sunday.
  private var days: [[Double]]
  /// The part of them that is only supposed: what the machine's other apps suggest.
  private var supposed: [[Double]]
  /// The habits that can be named, by time of day.
  public var habits: [Habit]

  /// Openings expected in each slot of ten minutes of a day.
  public func openings(onDay day: Int) -> [Double] { days[LocalTime.weekday(ofDay: day)] }

  /// The part of them that comes from openings that were seen, or were pinned.
  public func seen(onDay day: Int) -> [Double] {
    zip(openings(onDay: day), supposed[LocalTime.weekday(ofDay: day)]).map { max($0 - $1, 0) }
  }

  /// Openings expected a day, the mean of a week.
  public var openingsPerDay: Double { days.joined().reduce(0, +) / 7 }

  /// Openings that a file pins.
  init(pinned minutes: [Int]) {
    days = [[Double]](repeating: ExpectedDay(pinned: minutes).openings, count: 7)
    supposed = [[Double]](repeating: [Double](repeating: 0, count: Use.slots), count: 7)
    habits = []
  }

  /// The use that was learnt, for the week that begins with the day after a day: what was seen so far counts for each.
  init(_ use: Use, today: Int, _ shared: SharedUse) {
    let first = today + 1
    let explained = use.explained((0..<7).map { first + LocalTime.weekday(ofDay: $0 - first) }, shared)
    days = explained.map(\.openings)
    supposed = explained.map(\.supposed)
    var mean = [Double](repeating: 0, count: Use.slots)
    for day in days { for slot in mean.indices { mean[slot] += day[slot] / 7 } }
    habits = Habit.named(use.log.days, expected: mean)
  }
}
