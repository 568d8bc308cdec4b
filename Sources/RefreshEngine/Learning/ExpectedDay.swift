import CMath

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

/// Whether an opening makes another opening on the same day less likely: a habit comes once, a pastime again and again.
///
/// Three strengths are weighed by how well each foretold the openings of every day so far. Strength θ expects r (1 − θk) /
/// (1 − θR) openings in a timeslot. Of these, r are expected in the timeslot, R in the habit before it, and k came in the habit
/// already. θ = 0 is chance (Poisson), and θ = 1 a habit that comes once at most (binomial).
struct Repeats {
  /// The strengths.
  ///
  /// Measured: 0.9 gains 0.3 to 0.6 nats a day for habits that come once; 0.5 is rarely best.
  static let strengths = [0, 0.5, 0.9]
  /// Their weights before anything is seen.
  static let before = [0.5, 0.25, 0.25]
  /// The part of the weights that returns to ``before`` each night.
  static let share = 0.005
  /// The least factors, so that no opening is impossible or certain.
  private static let least = (again: 0.05, left: 0.15)
  /// The most openings expected in a timeslot.
  private static let most = 0.9

  /// The weight of each strength; their sum is one.
  let weights: [Double]

  /// The habits of a day: runs of timeslots in which more than the day's mean is expected, counted from 1.
  static func clusters(of openings: [Double]) -> [UInt8] {
    let mean = openings.reduce(0, +) / Double(Use.timeslots)
    var (count, isWithin) = (UInt8(0), false)
    return openings.map { expected in
      let isAbove = expected > mean
      if isAbove, !isWithin { count += 1 }
      isWithin = isAbove
      return isAbove ? count : 0
    }
  }

  /// The openings to expect in each timeslot's habit until the middle of the timeslot.
  static func expectedBefore(_ openings: [Double], _ cluster: [UInt8]) -> [Double] {
    var sum = 0.0
    return openings.indices.map { timeslot in
      guard cluster[timeslot] > 0 else {
        sum = 0
        return 0
      }
      defer { sum += openings[timeslot] }
      return sum + openings[timeslot] / 2
    }
  }

  private static func expected(_ openings: Double, strength: Double, before: Double, again: Int) -> Double {
    let factor = max(1 - strength * Double(again), least.again) / max(1 - strength * before, least.left)
    return min(openings * factor, max(most, openings))
  }

  /// The openings to expect in a timeslot while its habit is unmet, and the factor once it is met.
  func expected(_ openings: Double, before: Double) -> (unmet: Double, rest: Double) {
    var (unmet, met) = (0.0, 0.0)
    for (strength, weight) in zip(Self.strengths, weights) {
      unmet += weight * Self.expected(openings, strength: strength, before: before, again: 0)
      met += weight * Self.expected(openings, strength: strength, before: before, again: 1)
    }
    return (unmet, unmet > 0 ? met / unmet : 1)
  }

  /// The log of how likely each strength makes the openings of a day.
  static func evidence(_ openings: [Double], _ opened: [Int]) -> [Double] {
    let cluster = clusters(of: openings)
    let before = expectedBefore(openings, cluster)
    var isOpened = [Bool](repeating: false, count: Use.timeslots)
    for timeslot in opened { isOpened[timeslot] = true }
    return strengths.map { strength in
      var (evidence, again, last) = (0.0, 0, UInt8(0))
      for timeslot in 0..<Use.timeslots where cluster[timeslot] > 0 {
        if cluster[timeslot] != last { again = 0 }
        last = cluster[timeslot]
        let expected = expected(openings[timeslot], strength: strength, before: before[timeslot], again: again)
        evidence -= expected
        if isOpened[timeslot] {
          evidence += log(max(expected, 1e-6))
          again += 1
        }
      }
      return evidence
    }
  }
}

/// Decides by evidence whether weekends differ from weekdays.
///
/// Weighs two explanations of the same openings, "one habit for all days" and "a habit for each kind of day", by how likely
/// each makes the openings (the Bayes factor). The second needs more openings than the first can explain.
enum Weekends {
  /// The chance that weekends differ before anything is seen.
  private static let before = 0.25
  /// Bins of two hours: coarse enough to fill, fine enough for a morning that begins later.
  private static let bins = 12
  private static let binHalfHours = Use.halfHours / bins
  /// How many openings the common shape counts as in the shape of one kind of day: how far the two may differ.
  static let weight = 6.0
  /// The evenly spread part of that weight, so that an opening at an unused time surprises but does not prove.
  private static let even = 0.3

  /// The chance that the kinds of day differ in the times of use, and the chance that they differ in its volume.
  ///
  /// `shape` is the shape of all days, a share for each half hour.
  static func differ(_ week: [Double], _ weekend: [Double], days: SIMD2<Double>, shape: [Double]) -> (
    shape: Double, volume: Double
  ) {
    let counts = SIMD2(week.reduce(0, +), weekend.reduce(0, +))
    guard days.min() >= 1, counts.sum() >= 1 else { return (0, 0) }
    return (chance(shapes(week, weekend, counts, shape)), chance(volumes(counts, days)))
  }

  /// The log of how much better two rates explain the openings of each kind of day than one rate.
  ///
  /// Poisson counts whose rate has a gamma prior of shape 1, with the mean of all days.
  private static func volumes(_ counts: SIMD2<Double>, _ days: SIMD2<Double>) -> Double {
    let scale = (days.sum() + 1) / (counts.sum() + 0.5)
    func evidence(_ count: Double, _ days: Double) -> Double {
      lgamma(1 + count) - (1 + count) * log(scale + days) + log(scale)
    }
    return evidence(counts[0], days[0]) + evidence(counts[1], days[1]) - evidence(counts.sum(), days.sum())
  }

  /// The log of how much better two shapes explain the openings than one; the mean of two ways to lay the bins.
  ///
  /// Shares of the bins with a Dirichlet prior around the common shape.
  private static func shapes(
    _ week: [Double], _ weekend: [Double], _ counts: SIMD2<Double>, _ shape: [Double]
  ) -> Double {
    let shares = shape.reduce(0, +)
    func evidence(shiftedBy shift: Int) -> Double {
      var evidence = lgamma(weight) + lgamma(weight + counts.sum())
      evidence -= lgamma(weight + counts[0]) + lgamma(weight + counts[1])
      for bin in 0..<bins {
        var (inWeek, onWeekend, share) = (0.0, 0.0, 0.0)
        for offset in 0..<binHalfHours {
          let half = (bin * binHalfHours + offset + shift) % Use.halfHours
          inWeek += week[half]
          onWeekend += weekend[half]
          share += shape[half] / shares
        }
        let prior = weight * (even / Double(bins) + (1 - even) * share)
        evidence += lgamma(prior + inWeek) + lgamma(prior + onWeekend)
        evidence -= lgamma(prior) + lgamma(prior + inWeek + onWeekend)
      }
      return evidence
    }
    return (evidence(shiftedBy: 0) + evidence(shiftedBy: binHalfHours / 2)) / 2
  }

  /// The chance of the second explanation, from the log of its Bayes factor.
  private static func chance(_ factor: Double) -> Double {
    1 / (1 + exp(-min(max(factor + log(before), -30), 30)))
  }
}
