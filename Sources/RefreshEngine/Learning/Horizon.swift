import CMath

/// The expectation for the next three days: openings, updates, and the value of being fresh at each moment.
///
/// Made from the learners for one plan. The day is cut into slots of ten minutes. Openings and updates are even within a
/// slot; the future is linear between edges.
struct Horizon {
  /// Slots of three days.
  static let slots = 3 * Use.slots

  /// Openings to expect in each slot.
  private let openings: [Double]
  /// Updates a minute, by block of the day.
  private let blocks: SIMD8<Double>
  /// Updates a minute, the mean of the day.
  let rate: Double
  /// The effect of a whole slot on a wait (``Step``), so that a search computes no exponentials.
  let steps: [Step]
  /// The cost to come of being fresh at the edge of each slot, in minutes of age.
  var future: [Double]
  /// A lower bound of the costs to come.
  var lowest: Double

  /// The effect of a time on a wait.
  struct Step {
    /// The chance that nobody opens the app in it.
    var unopened: Double
    /// The chance that the source has nothing new in it.
    var unchanged: Double
    /// How long data without an update at the beginning stays current, in minutes, on average.
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

  /// Joins three days, each with its openings by slot; `knowsMet` lowers them where a habit was met.
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

  /// The slot of a minute; the last slot for all later minutes.
  static func slot(at minute: Double) -> Int { min(max(Int(minute / Use.slotMinutes), 0), slots - 1) }

  /// The effect of a part of a slot, from `minute` on.
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

  /// Openings to expect between two minutes.
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
