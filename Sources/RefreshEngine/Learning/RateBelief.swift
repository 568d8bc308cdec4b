import CMath

/// How likely each of some rates of new data is: what is believed of a source, not one number.
///
/// A sync says whether the first update came within the gap since the sync before, not when; the chance of either is
/// known for each rate, so that the belief follows from it without approximation (Bayes). A gap that is long for the
/// source says only "not rarer", and a short one "not more often", and neither is taken for a rate.
///
/// Sources change: between two syncs the rate may have been drawn anew, with a chance that grows with the gap. A source
/// that keeps to its rate loses little by that; one that leaves it is believed after a few syncs that surprise, because
/// the old rate explains them worse and worse than a new one (the likelihood ratio), and no threshold is needed.
struct RateBelief: Hashable, Sendable {
  /// Rates that are held apart, in updates a minute: from one in 50 days to one in 2.4 minutes, each 1.4 times the last.
  static let rates: [Double] = (0..<32).map { 0.02 * pow(30_000, Double($0) / 31) / LocalTime.minutesOfDay }
  private static let logs = rates.map { log($0) }
  private static let roots = rates.map { $0.squareRoot() }
  /// How far the sources of a machine lie apart: as the logarithm of the rate, a factor of seven either way.
  ///
  /// Measured: between a factor of three and of nine the mean score of four fleets differs by two tenths of a percent.
  private static let breadth = 2.0
  /// The mean time for which a source keeps its rate, in minutes: 120 days.
  ///
  /// Measured: between 60 and 400 days the mean score of four fleets, two of them with a change of rates, differs by a
  /// tenth or two of a percent; a belief that nothing ever changes loses seven tenths.
  private static let lasting = 120 * LocalTime.minutesOfDay
  /// The least chance of a rate, however unlike the machine's others, so that a belief can always come back.
  private static let least = 1e-4

  /// The chance of each rate; all zero while nothing was seen.
  ///
  /// Measured: chances in 16 bits lose nothing, because a rate that was rounded away comes back with the next drift.
  var chances = Numbers<32, Float16>()

  /// Whether nothing was seen.
  var isEmpty: Bool { chances.allSatisfy { $0 == 0 } }

  /// The belief before anything is seen: rates around the machine's typical one.
  private static func before(typical: Double) -> [Double] {
    let middle = log(typical)
    let weights = logs.map { rate in
      let distance = (rate - middle) / breadth
      return exp(-0.5 * distance * distance) + least
    }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// The rate to plan with, in updates a minute: the square of the mean root of what is believed.
  ///
  /// Measured: with the geometric mean a new app is refreshed too rarely on its first day; the arithmetic mean costs more
  /// later.
  func mean(typical: Double) -> Double {
    let chances = isEmpty ? Self.before(typical: typical) : chances.map { Double($0) }
    let root = zip(chances, Self.roots).reduce(0) { $0 + $1.0 * $1.1 }
    return root * root
  }

  /// Learns from a sync `gap` minutes after the one before, in which a source of rate 1 has `exposure` updates.
  mutating func observe(gap: Double, exposure: Double, foundNew: Bool, typical: Double) {
    let fresh = Self.before(typical: typical)
    let changed = -expm1(-gap / Self.lasting)
    var weights = fresh
    if !isEmpty {
      for index in weights.indices { weights[index] += (1 - changed) * (Double(chances[index]) - weights[index]) }
    }
    for index in weights.indices {
      let none = exp(-Self.rates[index] * exposure)
      weights[index] *= foundNew ? 1 - none : none
    }
    let sum = weights.reduce(0, +)
    // No rate explains what was seen: begin anew.
    chances = Numbers(sum > 1e-30 ? weights.map { Float16($0 / sum) } : fresh.map { Float16($0) })
  }
}
