import CMath

/// The relative value of being fresh at each timeslot of the day, improved once a night.
struct Future: Hashable, Sendable {
  /// The cost to come of being fresh at the edge of each timeslot, less the least of the day, in steps of `step`.
  ///
  /// They are multiples of 16. Measured: 12 bits of each lose nothing that shows, 8 bits two percent of the score of
  /// `fresh`.
  var costs = Numbers<144, UInt16>()
  /// The minutes of age of a step: a 65,535th of the largest cost.
  ///
  /// With the rounding of ``costs``, a search is off by some seconds.
  var step: Float = 0
  /// The cost of a day, the mean rise of the costs in a pass; minutes of age.
  var rise: Float = 0

  /// The cost to come at each timeslot, in minutes of age.
  private var minutes: [Double] { costs.map { Double($0) * Double(step) } }

  /// The costs to come over three days: each day costs less than the day before.
  var threeDays: [Double] {
    let costs = minutes
    var nodes: [Double] = []
    nodes.reserveCapacity(Horizon.timeslots + 1)
    for day in 0..<3 { for cost in costs { nodes.append(cost - Double(day) * Double(rise)) } }
    nodes.append(costs[0] - 3 * Double(rise))
    return nodes
  }

  /// Runs backward passes over the day.
  ///
  /// A sync at any moment forbids the next refresh before `floor`; a `ceiling` forces a refresh there. Both in minutes.
  mutating func improve(_ horizon: Horizon, charge: Double, floor: Double, ceiling: Double?, passes: Int) {
    var horizon = horizon
    let count = Use.timeslots
    // A wait may not leave the three days of the horizon.
    let floor = min(floor, WaitSearch.longest)
    let longest = max(floor, min(ceiling ?? WaitSearch.longest, WaitSearch.longest))
    var rise = Double(self.rise)
    var old = minutes
    for _ in 0..<passes {
      horizon.future = old + old + old.map { $0 - rise } + [old[0] - 2 * rise]
      horizon.lowest = min(0, -2 * rise)
      for timeslot in stride(from: count - 1, through: 0, by: -1) {
        horizon.future[timeslot] = horizon.future[timeslot + 1] + rise / Double(count)
        let best = WaitSearch.best(
          horizon, start: Double(timeslot) * Use.timeslotMinutes, age: 0, charge: charge, notBefore: max(floor, 1),
          notAfter: longest)
        horizon.future[timeslot] = best.cost
      }
      let today = horizon.future[0..<count]
      rise = zip(today, old).reduce(0) { $0 + $1.0 - $1.1 } / Double(count)
      let least = today.min() ?? 0
      old = today.map { $0 - least }
    }
    let largest = old.max() ?? 0
    step = Float(largest / Double(UInt16.max))
    costs = Self.rounded(old.map { largest > 0 ? UInt16(($0 / largest * Double(UInt16.max)).rounded()) : 0 })
    self.rise = Float(rise)
  }

  /// Rounds costs to multiples of 16.
  static func rounded(_ costs: [UInt16]) -> Numbers<144, UInt16> {
    Numbers(costs.map { UInt16(min((Int($0) + 8) / 16, 4095) * 16) })
  }
}
