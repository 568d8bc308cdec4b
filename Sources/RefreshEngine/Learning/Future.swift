import CMath

/// The relative value of being fresh at each half hour of the day, improved once a night.
struct Future: Hashable, Sendable {
  /// Cost to come of being fresh at each half hour, less the least of the day, in steps of `step`.
  var costs = Numbers<48, UInt16>()
  /// Minutes of age of a step: the largest cost is 65,535 of them, so that a search is off by less than a second.
  var step: Float = 0
  /// The cost of a day, the mean rise of the costs in a pass; minutes of age.
  var rise: Float = 0

  /// Cost to come at each half hour, in minutes of age.
  private var minutes: [Double] { costs.map { Double($0) * Double(step) } }

  /// Nodes for three days: each day costs less to come than the one before.
  var threeDays: [Double] {
    let costs = minutes
    var nodes: [Double] = []
    nodes.reserveCapacity(Horizon.halfHours + 1)
    for day in 0..<3 { for cost in costs { nodes.append(cost - Double(day) * Double(rise)) } }
    nodes.append(costs[0] - 3 * Double(rise))
    return nodes
  }

  /// Runs one backward pass over the day.
  mutating func improve(_ horizon: Horizon, charge: Double) {
    var horizon = horizon
    let old = minutes
    for half in 0..<Use.halfHours {
      horizon.future[half] = old[half]
      horizon.future[48 + half] = old[half]
      horizon.future[96 + half] = old[half] - Double(rise)
    }
    horizon.future[144] = old[0] - 2 * Double(rise)
    for half in stride(from: 47, through: 0, by: -1) {
      horizon.future[half] = horizon.future[half + 1] + Double(rise) / 48
      horizon.future[half] =
        WaitSearch.best(horizon, start: Double(half) * 30, age: 0, charge: charge, notBefore: 10).cost
    }
    let today = horizon.future[0..<Use.halfHours]
    let least = today.min() ?? 0
    let largest = (today.max() ?? 0) - least
    step = Float(largest / Double(UInt16.max))
    costs = Numbers(
      today.map { largest > 0 ? UInt16((($0 - least) / largest * Double(UInt16.max)).rounded()) : 0 })
    rise = Float(zip(today, old).reduce(0) { $0 + $1.0 - $1.1 } / 48)
  }
}
