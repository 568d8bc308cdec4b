import CMath

/// A belief about a source: the chance of each of some rates of new data.
///
/// A sync tells whether the first update came within the gap since the last sync, but not when. The chance of either is
/// known for each rate, so that the belief follows exactly (Bayes). A gap that is long for the source says only "not
/// rarer", a short gap only "not more often".
///
/// Sources change: between two syncs the rate may have been drawn anew, with a chance that grows with the gap. A source
/// with a constant rate loses little by that. If the rate changes, a few surprising syncs change the belief: a new rate
/// explains them better (the likelihood ratio), and no threshold is needed.
struct RateBelief: Hashable, Sendable {
  /// The distinct rates, in updates a minute: from one in 50 days to one in 2.4 minutes, each 1.4 times the last.
  static let rates: [Double] = (0..<32).map { 0.02 * pow(30_000, Double($0) / 31) / LocalTime.minutesOfDay }
  private static let logs = rates.map { log($0) }
  private static let roots = rates.map { $0.squareRoot() }
  /// How far the sources of a machine lie apart: as the logarithm of the rate, a factor of seven either way.
  ///
  /// Measured: between a factor of three and of nine the mean score of four fleets differs by two tenths of a percent.
  private static let breadth = 2.0
  /// The mean time for which a source keeps its rate, in minutes: 120 days.
  ///
  /// Measured: between 60 and 400 days the mean score of four fleets, two of them with changing rates, differs by .1 to .2
  /// percent. The belief that nothing ever changes loses .7 percent.
  private static let lasting = 120 * LocalTime.minutesOfDay
  /// The least chance of a rate, however rare it is on the machine, so that a belief can always recover.
  private static let least = 1e-4

  /// The chance of each rate; all zero while nothing was seen.
  ///
  /// Measured: chances in 16 bits lose nothing, because a rate that was rounded away returns with the next drift.
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

  /// The rate to plan with, in updates a minute: the square of the mean root over the belief.
  ///
  /// Measured: with the geometric mean a new app is refreshed too rarely on its first day; the arithmetic mean costs more
  /// later.
  func mean(typical: Double) -> Double {
    let chances = isEmpty ? Self.before(typical: typical) : chances.map { Double($0) }
    let root = zip(chances, Self.roots).reduce(0) { $0 + $1.0 * $1.1 }
    return root * root
  }

  /// Learns from a sync `gap` minutes after the last, in which a source of rate 1 would have `exposure` updates.
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
    // No rate explains the sync: begin anew.
    chances = Numbers(sum > 1e-30 ? weights.map { Float16($0 / sum) } : fresh.map { Float16($0) })
  }
}
