/// When an app is expected to be opened, as learnt or pinned: for `refreshctl usage`, `forecast` and `why`.
public struct Usage: Hashable, Sendable {
  /// Openings expected in each half hour of a Monday to Friday.
  public var week: [Double]
  /// Openings expected in each half hour of a Saturday or Sunday.
  public var weekend: [Double]

  /// How often the app must be opened around a time so that the time is named: every fourth day.
  static let usual = 0.25
  /// How far ahead a time is looked for, in half hours: six hours, so that the sentence is about this part of the day.
  static let ahead = 12

  /// Openings expected in each half hour of a day.
  public func openings(onDay day: Int) -> [Double] { LocalTime.isWeekend(day: day) ? weekend : week }

  /// Openings expected a day, the mean of a week.
  public var openingsPerDay: Double { (5 * week.reduce(0, +) + 2 * weekend.reduce(0, +)) / 7 }

  /// The likeliest half hour to come within six hours, with the openings expected in it and its two neighbours.
  ///
  /// The minute is that of the day at which the half hour begins; nil if the app is opened there on less than every
  /// fourth day.
  public func likelyOpening(after moment: LocalTime) -> (minuteOfDay: Int, openings: Double)? {
    let today = openings(onDay: moment.day)
    let tomorrow = openings(onDay: moment.day + 1)
    func expected(_ half: Int) -> Double {
      half < 0 ? 0 : half < Use.halfHours ? today[half] : tomorrow[half % Use.halfHours]
    }
    let first = Int(moment.minuteOfDay / 30)
    guard let best = (first..<(first + Self.ahead)).max(by: { expected($0) < expected($1) }) else { return nil }
    let around = expected(best - 1) + expected(best) + expected(best + 1)
    guard around >= Self.usual else { return nil }
    return (best % Use.halfHours * 30, around)
  }
}
