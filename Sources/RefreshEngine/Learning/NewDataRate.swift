import CMath

/// How often the source of an app has something new, learnt from what each sync found.
///
/// The mean of the day is believed (``RateBelief``), and the day has a shape: it is cut into eight blocks of three hours,
/// because sources have a day of their own. The weight of a block is (updates seen in it + 2) / (updates expected in it
/// by the mean + 2), normed to a mean of one. A sync with new data shares one update among the blocks of its gap, by the
/// chance that the first update fell there, and expects what the time watched before it makes expect; one without adds
/// what its whole gap makes expect. Each sync lets both fade by a fifth of a percent.
struct NewDataRate: Hashable, Sendable {
  /// Minutes of a block; eight make a day.
  static let blockMinutes = 180.0
  /// The part of the shape that remains after a sync: a memory of about 500 syncs, since a shape takes eight numbers.
  static let memory: Float = 0.998
  /// Pseudo-updates by which a block holds to the day's mean.
  static let blockWeight = 2.0
  /// The longest gap that is learnt from, in minutes: 48 hours.
  static let longestGap = 2880.0
  /// The shortest gap that is learnt from, in minutes: two syncs at once say nothing.
  static let shortestGap = 0.5

  /// The mean of the day.
  var belief = RateBelief()
  /// Updates seen, by block; faded.
  @PackedVector<8, SIMD8<Float>> var updates = SIMD8<Float>(repeating: 0)
  /// Updates expected by the mean, by block; faded.
  @PackedVector<8, SIMD8<Float>> var expected = SIMD8<Float>(repeating: 0)

  /// Updates a minute, the mean of the day; `typical` is that of the device.
  func mean(typical: Double) -> Double { belief.mean(typical: typical) }

  /// The weight of each block; their mean is one.
  private var shape: SIMD8<Double> {
    let weights = (SIMD8<Double>(updates) + Self.blockWeight) / (SIMD8<Double>(expected) + Self.blockWeight)
    return weights / (weights.sum() / 8)
  }

  /// Updates a minute, by block.
  func blocks(typical: Double) -> SIMD8<Double> { shape * mean(typical: typical) }

  /// A part of a gap that lies within one block.
  private struct Piece {
    var block: Int
    var length: Double
    /// The chance that the gap's first update falls here.
    var first: Double
  }

  /// Learns from a sync that found new data, or none, `gap` minutes after the one before.
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

  /// Minutes until the first update within `length` minutes, given that there is one.
  static func firstUpdate(in length: Double, _ rate: Double) -> Double {
    let expected = rate * length
    return expected > 1e-6 ? 1 / rate - length / expm1(min(expected, 50)) : length / 2
  }
}
