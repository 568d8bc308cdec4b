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
