/// The openings to expect on one day, by timeslots of ten minutes.
public struct ExpectedDay: Hashable, Sendable {
  /// Openings to expect before anything of the day is known.
  public var openings: [Double]
  /// Openings to expect while the timeslot's habit was not met today; e^(−their sum) is the chance that nobody comes.
  public var unmet: [Double]
  /// The factor by which an earlier opening in the same habit on the same day changes the expectation.
  public var rest: [Double]
  /// The habit of each timeslot, counted from 1 over the day; 0 for none.
  public var cluster: [UInt8]
  /// The habits that were met on this day so far.
  public var met: Set<UInt8> = []

  /// Openings to expect for the rest of the day, given the habits that were met on it.
  var conditional: [Double] {
    guard !met.isEmpty else { return unmet }
    return unmet.indices.map { met.contains(cluster[$0]) ? unmet[$0] * rest[$0] : unmet[$0] }
  }

  /// Makes a day with certain openings at these times, as a file pins them.
  init(pinned minutes: [Int]) {
    openings = [Double](repeating: 0, count: Use.timeslots)
    for minute in minutes { openings[Use.timeslot(ofMinute: Double(minute))] += 1 }
    // Nine times out of ten: −ln 0.1 is 2.3.
    unmet = openings.map { $0 * 2.3 }
    rest = [Double](repeating: 1, count: Use.timeslots)
    cluster = [UInt8](repeating: 0, count: Use.timeslots)
  }

  /// Makes a day from expected openings by timeslot, where `repeats` tells how an opening changes the chance of the next.
  init(openings: [Double], repeats: Repeats, timeslotsMet: [Int]) {
    self.openings = openings
    cluster = Repeats.clusters(of: openings)
    unmet = openings
    rest = [Double](repeating: 1, count: Use.timeslots)
    let before = Repeats.expectedBefore(openings, cluster)
    for timeslot in 0..<Use.timeslots where cluster[timeslot] > 0 {
      (unmet[timeslot], rest[timeslot]) = repeats.expected(openings[timeslot], before: before[timeslot])
    }
    met = Set(timeslotsMet.map { cluster[$0] }).subtracting([0])
  }
}

extension [ExpectedDay] {
  /// How often a day the app must be opened around a time to name the time: every fourth day.
  private static let usual = 0.25
  /// How many timeslots ahead to look for a time: six hours, so that the sentence is about this part of the day.
  private static let ahead = 36
  /// How many timeslots before and after the likeliest timeslot belong to the same time: half an hour.
  private static let around = 3

  /// The likeliest time of an opening within six hours of a moment of the first day, and the expected openings around it.
  ///
  /// The minute is a minute of the day, to five minutes; nil if the app is opened there on less than every fourth day.
  func likelyOpening(after minute: Double) -> (minuteOfDay: Int, openings: Double)? {
    let expected = flatMap(\.openings)
    let first = Int(minute / Use.timeslotMinutes)
    let last = Swift.min(first + Self.ahead, expected.count)
    guard first >= 0, first < last,
      let best = (first..<last).max(by: { expected[$0] < expected[$1] })
    else { return nil }
    let timeslots = Swift.max(best - Self.around, 0)...Swift.min(best + Self.around, expected.count - 1)
    let openings = timeslots.reduce(0) { $0 + expected[$1] }
    guard openings >= Self.usual else { return nil }
    let middle = timeslots.reduce(0) { $0 + expected[$1] * (Double($1) + 0.5) } / openings * Use.timeslotMinutes
    return (Int((middle / 5).rounded()) * 5 % Int(LocalTime.minutesOfDay), openings)
  }
}
