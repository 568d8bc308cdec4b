import CMath

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
