import CMath

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
