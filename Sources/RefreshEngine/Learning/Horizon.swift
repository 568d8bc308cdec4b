import CMath

/// The expectation for the next three days: openings, updates, and the value of being fresh at each moment.
///
/// Transient: made for one plan from what is learnt. All three run over minutes since a midnight and are piecewise
/// linear: openings over half hours, updates over blocks of three hours, the future over half hours.
struct Horizon {
  /// Half hours in three days.
  static let halfHours = 3 * Use.halfHours
  /// Minutes of a half hour.
  static let halfHour = 30.0

  /// Openings expected until the edge of each half hour.
  var openings: [Double]
  /// Updates expected until the edge of each block.
  var updates: [Double]
  /// Cost to come of being fresh at the edge of each half hour, in minutes of age.
  var future: [Double]
  /// Updates a minute, the mean of the day.
  var rate: Double

  /// Lays three days in a row, of which each has its openings by half hour.
  init(days: [[Double]], blocks: SIMD8<Double>, rate: Double, future: Future) {
    openings = [0]
    openings.reserveCapacity(Self.halfHours + 1)
    for day in days { for value in day { openings.append(openings[openings.count - 1] + value) } }
    updates = [0]
    updates.reserveCapacity(25)
    for _ in 0..<3 {
      for block in 0..<8 { updates.append(updates[updates.count - 1] + blocks[block] * NewDataRate.blockMinutes) }
    }
    self.future = future.threeDays
    self.rate = rate
  }

  static func value(_ nodes: [Double], at minute: Double, step: Double) -> Double {
    let place = minute / step
    let index = min(max(Int(place), 0), nodes.count - 2)
    return nodes[index] + (nodes[index + 1] - nodes[index]) * (place - Double(index))
  }

  func openings(until minute: Double) -> Double { Self.value(openings, at: minute, step: Self.halfHour) }
  func updates(until minute: Double) -> Double { Self.value(updates, at: minute, step: NewDataRate.blockMinutes) }
  func future(at minute: Double) -> Double { Self.value(future, at: minute, step: Self.halfHour) }
}
