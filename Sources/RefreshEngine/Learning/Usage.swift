import CMath

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

/// A time at which an app is usually opened, as people would name it.
public struct Habit: Hashable, Sendable {
  /// The middle, minutes of the local day.
  public var minuteOfDay: Int
  /// How far openings lie from the middle: one standard deviation, in minutes.
  public var spread: Double
  /// The days of the week of the habit, bit 0 for Monday to bit 6 for Sunday.
  public var weekdays: UInt8
  /// On how many of the last ``days`` such days the app was opened at that time.
  public var met: Int
  /// How many such days were seen lately: ten at most.
  public var days: Int

  /// Every day.
  static let everyDay: UInt8 = 0x7F
  /// The other choices for the days of a habit: Monday to Friday, the weekend, and each day alone.
  private static let choices: [UInt8] = [0x1F, 0x60] + (0..<7).map { 1 << $0 }
  /// The evidence that one of the choices needs: as much as there are choices.
  private static let doubt = log(Double(choices.count))
  private static let mostDays = 10
  /// How often the app must have been opened at that time before a habit is named.
  private static let leastMet = 3
  /// On which part of such days the app must have been opened.
  private static let leastPart = 0.4
  /// The widest spread of a habit, in minutes.
  private static let widest = 60.0

  /// The bit of a day.
  private static func bit(ofDay day: Int) -> UInt8 { 1 << UInt8(LocalTime.weekday(ofDay: day)) }

  /// The habits in a log, by time of day: one for each run of timeslots in which more than the mean is expected.
  static func named(_ log: OpeningLog.Days, expected: [Double]) -> [Habit] {
    let cluster = Repeats.clusters(of: expected)
    return (1...max(cluster.max() ?? 0, 1)).compactMap { id in
      habit(log, in: log.openings.filter { cluster[$0.timeslot] == id })
    }
  }

  /// The habit that some openings form, if they do.
  private static func habit(_ log: OpeningLog.Days, in openings: [(day: Int, timeslot: Int)]) -> Habit? {
    let met = Set(openings.map(\.day))
    let seen = log.seen + met.subtracting(log.seen)
    let weekdays = weekdays(seen, met)
    let last = seen.filter { weekdays & bit(ofDay: $0) != 0 }.sorted().suffix(mostDays)
    let count = last.count { met.contains($0) }
    let timeslots = openings.filter { weekdays & bit(ofDay: $0.day) != 0 }.map { Double($0.timeslot) + 0.5 }
    guard count >= leastMet, Double(count) >= leastPart * Double(last.count) else { return nil }
    let middle = timeslots.reduce(0, +) / Double(timeslots.count)
    let variance = timeslots.reduce(0) { $0 + ($1 - middle) * ($1 - middle) } / Double(timeslots.count)
    let spread = variance.squareRoot() * Use.timeslotMinutes
    guard spread <= widest else { return nil }
    let minute = Int((middle * Use.timeslotMinutes / 5).rounded()) * 5
    return Habit(minuteOfDay: minute, spread: spread, weekdays: weekdays, met: count, days: last.count)
  }

  /// The days of the week that best explain on which days the app was opened.
  private static func weekdays(_ seen: [Int], _ met: Set<Int>) -> UInt8 {
    func counts(_ mask: UInt8) -> (met: Double, missed: Double) {
      let days = seen.filter { mask & bit(ofDay: $0) != 0 }
      let count = days.count { met.contains($0) }
      return (Double(count), Double(days.count - count))
    }
    // The chance of the counts if every rate is equally likely before (a beta integral).
    func evidence(_ counts: (met: Double, missed: Double)) -> Double {
      lgamma(counts.met + 1) + lgamma(counts.missed + 1) - lgamma(counts.met + counts.missed + 2)
    }
    var (best, most) = (everyDay, evidence(counts(everyDay)) + doubt)
    for choice in choices {
      let (within, without) = (counts(choice), counts(everyDay & ~choice))
      guard within.met * without.missed > without.met * within.missed else { continue }
      let evidence = evidence(within) + evidence(without)
      if evidence > most { (best, most) = (choice, evidence) }
    }
    return best
  }
}

extension Habit {
  /// How long before the middle of a habit a refresh counts as made for it, in minutes.
  ///
  /// A later habit does not explain a refresh for an earlier opening.
  private static let ahead = 120.0

  /// Whether a day has the habit; `day` counts as ``LocalTime/day``.
  func holds(onDay day: Int) -> Bool { weekdays & Self.bit(ofDay: day) != 0 }

  /// Minutes from a moment until the middle of the habit; nil if a refresh at the moment is too early or too late for it.
  func wait(from moment: LocalTime) -> Double? {
    for day in moment.day...(moment.day + 1) where holds(onDay: day) {
      let wait = Double(day) * LocalTime.minutesOfDay + Double(minuteOfDay) - moment.minutes
      if wait >= 0, wait <= Self.ahead + spread { return wait }
    }
    return nil
  }
}

extension Usage {
  /// The habit that a refresh at a moment is made for; nil if no named habit follows soon.
  public func habit(after moment: LocalTime) -> Habit? {
    let near = habits.compactMap { habit in habit.wait(from: moment).map { (habit: habit, wait: $0) } }
    return near.min { $0.wait < $1.wait }?.habit
  }
}
