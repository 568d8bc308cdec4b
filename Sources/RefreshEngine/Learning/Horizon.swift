import CMath

/// The expectation for the next three days: openings, updates, and the value of being fresh at each moment.
///
/// Transient: made for one plan from what is learnt. The day is cut into slots of ten minutes. Openings and updates come
/// evenly within a slot; the future runs straight from each edge to the next.
struct Horizon {
  /// Slots of three days.
  static let slots = 3 * Use.slots

  /// Openings expected in each slot.
  private let openings: [Double]
  /// Updates a minute, by block of the day.
  private let blocks: SIMD8<Double>
  /// Updates a minute, the mean of the day.
  let rate: Double
  /// The effect of a whole slot on a wait (``Step``), so that a search takes no exponentials.
  let steps: [Step]
  /// Cost to come of being fresh at the edge of each slot, in minutes of age.
  var future: [Double]
  /// No cost to come is lower.
  var lowest: Double

  /// The effect of passing some time on a wait.
  struct Step {
    /// The chance that nobody opens the app meanwhile.
    var unopened: Double
    /// The chance that the source has nothing new meanwhile.
    var unchanged: Double
    /// Minutes for which data without an update at the beginning stays so, on average.
    var current: Double
    /// Minutes that pass.
    var minutes: Double

    init(openings: Double, rate: Double, minutes: Double) {
      let updates = rate * minutes
      self.unopened = exp(-openings)
      self.unchanged = exp(-updates)
      self.current = updates > 1e-6 ? (1 - unchanged) / rate : minutes
      self.minutes = minutes
    }
  }

  /// Lays three days in a row, of which each has its openings by slot; with `knowsMet`, less where a habit was met.
  init(days: [ExpectedDay], knowsMet: Bool, blocks: SIMD8<Double>, rate: Double, future: Future) {
    openings = days.flatMap { knowsMet ? $0.conditional : $0.unmet }
    self.blocks = blocks
    self.rate = rate
    self.future = future.threeDays
    lowest = min(0, -3 * Double(future.rise))
    let whole = (0..<8).map { Step(openings: 0, rate: blocks[$0], minutes: Use.slotMinutes) }
    steps = openings.enumerated().map { slot, openings in
      var step = whole[slot % Use.slots / (Use.slots / 8)]
      if openings > 0 { step.unopened = exp(-openings) }
      return step
    }
  }

  /// The slot of a minute; the last one for all that is later.
  static func slot(at minute: Double) -> Int { min(max(Int(minute / Use.slotMinutes), 0), slots - 1) }

  /// The effect of passing a part of a slot, from `minute` on.
  func step(from minute: Double, minutes: Double) -> Step {
    let slot = Self.slot(at: minute)
    let block = slot % Use.slots / (Use.slots / 8)
    return Step(openings: openings[slot] * minutes / Use.slotMinutes, rate: blocks[block], minutes: minutes)
  }

  func future(at minute: Double) -> Double {
    let slot = minute / Use.slotMinutes
    let index = min(max(Int(slot), 0), Self.slots - 1)
    return future[index] + (future[index + 1] - future[index]) * (slot - Double(index))
  }

  /// Openings expected from a minute until another.
  func openings(from begin: Double, until end: Double) -> Double {
    var (sum, minute) = (0.0, begin)
    while minute < end {
      let slot = Self.slot(at: minute)
      let next = min(end, slot < Self.slots - 1 ? Double(slot + 1) * Use.slotMinutes : end)
      sum += openings[slot] * (next - minute) / Use.slotMinutes
      minute = next
    }
    return sum
  }
}
