import CMath

/// How often the source of an app has new data, learnt from the result of each sync.
///
/// The mean of the day is a belief (``RateBelief``), and the day has a shape: eight blocks of three hours, because sources
/// differ by time of day. The weight of a block is (updates seen in it + 2) / (updates expected in it by the mean + 2),
/// normed to a mean of one. A sync with new data divides one update among the blocks of its gap, by the chance that the
/// first update fell there. It expects the updates of the time before that. A sync without new data expects the updates of
/// its whole gap. Both counts fade by a fifth of a percent with each sync.
struct NewDataRate: Hashable, Sendable {
  /// Minutes of a block; eight make a day.
  static let blockMinutes = 180.0
  /// The remaining part of the shape after a sync: a memory of about 500 syncs, since a shape takes eight numbers.
  static let memory: Float = 0.998
  /// Pseudo-updates that tie a block to the day's mean.
  static let blockWeight = 2.0
  /// The longest gap to learn from, in minutes: 48 hours.
  static let longestGap = 2880.0
  /// The shortest gap to learn from, in minutes: two syncs at once say nothing.
  static let shortestGap = 0.5

  /// The mean of the day.
  var belief = RateBelief()
  /// Updates seen, by block; faded.
  var updates = SIMD8<Float>(repeating: 0)
  /// Updates expected by the mean, by block; faded.
  var expected = SIMD8<Float>(repeating: 0)

  /// Updates a minute, the mean of the day; `typical` is the rate of the machine's typical app.
  func mean(typical: Double) -> Double { belief.mean(typical: typical) }

  /// The weight of each block; their mean is one.
  private var shape: SIMD8<Double> {
    let weights = (SIMD8<Double>(updates) + Self.blockWeight) / (SIMD8<Double>(expected) + Self.blockWeight)
    return weights / (weights.sum() / 8)
  }

  /// Updates a minute, by block.
  func blocks(typical: Double) -> SIMD8<Double> { shape * mean(typical: typical) }

  /// A part of a gap within one block.
  private struct Piece {
    var block: Int
    var length: Double
    /// The chance that the gap's first update falls here.
    var first: Double
  }

  /// Learns from a sync with new data or without, `gap` minutes after the last sync.
  mutating func observe(gap: Double, endingAt end: LocalTime, foundNew: Bool, typical: Double) {
    guard gap >= Self.shortestGap else { return }
    let mean = mean(typical: typical)
    let weights = shape
    let watched = min(gap, Self.longestGap)
    var moment = end.minutes - watched
    var pieces: [Piece] = []
    var (none, exposure) = (1.0, 0.0)
    while moment < end.minutes {
      let index = (moment / Self.blockMinutes).rounded(.down)
      let edge = min(end.minutes, (index + 1) * Self.blockMinutes)
      let block = ((Int(index) % 8) + 8) % 8
      let length = edge - moment
      let updates = weights[block] * mean * length
      pieces.append(Piece(block: block, length: length, first: none * -expm1(-updates)))
      none *= exp(-updates)
      exposure += weights[block] * length
      moment = edge
    }
    belief.observe(gap: gap, exposure: exposure, foundNew: foundNew, typical: typical)
    updates *= Self.memory
    expected *= Self.memory
    guard foundNew else {
      for piece in pieces { expected[piece.block] += Float(piece.length * mean) }
      return
    }
    let any = max(1 - none, 1e-12)
    var later = 1.0
    for piece in pieces {
      let here = piece.first / any
      later -= here
      let before = Self.firstUpdate(in: piece.length, weights[piece.block] * mean)
      updates[piece.block] += Float(here)
      expected[piece.block] += Float((max(later, 0) * piece.length + here * before) * mean)
    }
  }

  /// The mean number of minutes until the first update within `length` minutes, given that there is one.
  static func firstUpdate(in length: Double, _ rate: Double) -> Double {
    let expected = rate * length
    return expected > 1e-6 ? 1 / rate - length / expm1(min(expected, 50)) : length / 2
  }
}

/// A belief about a source: the chance of each of some rates of new data.
///
/// A sync tells whether the first update came within the gap since the last sync, but not when. The chance of either is
/// known for each rate, so that the belief follows exactly (Bayes). A gap that is long for the source says only "not
/// rarer", a short gap only "not more often".
///
/// Sources change: between two syncs the rate may have been drawn again, with a chance that grows with the gap. A source
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
    // No rate explains the sync: start over.
    chances = Numbers(sum > 1e-30 ? weights.map { Float16($0 / sum) } : fresh.map { Float16($0) })
  }
}
