import CMath

/// How often the source of an app has something new, learnt from what each sync found (FEATURES C1).
///
/// A sync says whether the first update came within the gap since the sync before, not when: the observations are
/// interval-censored. The day is cut into eight blocks of three hours, because sources have a day of their own. Each
/// block has the updates seen in it and the time watched for them; each sync lets both fade by 1 %. A sync without new
/// data adds its gap to the time watched. A sync with new data shares one update among the blocks of its gap, by the
/// chance that the first update fell there, and adds the time that was watched before it, both as they are expected
/// at the rates so far. The rate of the day is (updates + 1) / (time + 1 / typical rate of the device); that of a block
/// (updates + 1.5) / (time + 1.5 / rate of the day).
struct NewDataRate: Hashable, Sendable {
  /// Minutes of a block; eight make a day.
  static let blockMinutes = 180.0
  /// What of the past remains after a sync: a memory of about 100 syncs (planning.md, 2.1).
  static let memory: Float = 0.99
  /// Pseudo-updates by which a block holds to the day's mean (planning.md, 2.1).
  static let blockWeight = 1.5
  /// The longest gap that is learnt from, in minutes: 48 hours (planning.md, 2.1).
  static let longestGap = 2880.0
  /// The shortest gap that is learnt from, in minutes: two syncs at once say nothing.
  static let shortestGap = 0.5

  /// Updates seen, by block; faded.
  var updates = SIMD8<Float>(repeating: 0)
  /// Minutes watched for an update, by block; faded.
  var watched = SIMD8<Float>(repeating: 0)

  /// Updates a minute, the mean of the day; `typical` is that of the device.
  func mean(typical: Double) -> Double {
    (Double(updates.sum()) + 1) / (Double(watched.sum()) + 1 / typical)
  }

  /// Updates a minute, by block.
  func blocks(typical: Double) -> SIMD8<Double> {
    let mean = mean(typical: typical)
    let weight = Self.blockWeight
    return (SIMD8<Double>(updates) + weight) / (SIMD8<Double>(watched) + weight / mean)
  }

  /// Learns from a sync that found new data, or none, `gap` minutes after the one before.
  mutating func observe(gap: Double, endingAt end: LocalTime, foundNew: Bool, typical: Double) {
    guard gap >= Self.shortestGap else { return }
    let rates = blocks(typical: typical)
    var moment = end.minutes - min(gap, Self.longestGap)
    var pieces: [(block: Int, length: Double, rate: Double, first: Double)] = []
    var none = 1.0
    while moment < end.minutes {
      let index = (moment / Self.blockMinutes).rounded(.down)
      let edge = min(end.minutes, (index + 1) * Self.blockMinutes)
      let block = ((Int(index) % 8) + 8) % 8
      let expected = rates[block] * (edge - moment)
      pieces.append((block, edge - moment, rates[block], none * -expm1(-expected)))
      none *= exp(-expected)
      moment = edge
    }
    updates *= Self.memory
    watched *= Self.memory
    guard foundNew else {
      for piece in pieces { watched[piece.block] += Float(piece.length) }
      return
    }
    let any = max(1 - none, 1e-12)
    var later = 1.0
    for piece in pieces {
      let here = piece.first / any
      later -= here
      updates[piece.block] += Float(here)
      watched[piece.block] += Float(
        max(later, 0) * piece.length + here * Self.firstUpdate(in: piece.length, piece.rate))
    }
  }

  /// Minutes until the first update within `length` minutes, given that there is one.
  static func firstUpdate(in length: Double, _ rate: Double) -> Double {
    let expected = rate * length
    return expected > 1e-6 ? 1 / rate - length / expm1(min(expected, 50)) : length / 2
  }
}
