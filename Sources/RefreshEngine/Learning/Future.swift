import CMath

/// The relative value of being fresh at each half hour of the day, improved once a night (planning.md, 2.4).
struct Future: Hashable, Sendable {
  /// Cost to come of being fresh at each half hour, less the least of the day; minutes of age.
  var costs = [Float](repeating: 0, count: Use.halfHours)
  /// What a day costs, the mean rise of the costs in a pass.
  var rise: Float = 0

  /// The costs in 65,535ths of the largest, as they are stored: a search is off by less than a second of age for a day.
  var scaled: (scale: Float, steps: [UInt16]) {
    let largest = costs.max() ?? 0
    guard largest > 0 else { return (0, costs.map { _ in 0 }) }
    return (largest / Float(UInt16.max), costs.map { UInt16(($0 / largest * Float(UInt16.max)).rounded()) })
  }

  /// No future is known yet.
  init() {}

  /// Makes a future of what was stored.
  init(scale: Float, steps: [UInt16], rise: Float) {
    costs = steps.map { Float($0) * scale }
    self.rise = rise
  }

  /// Nodes for three days: each day costs less to come than the one before.
  var threeDays: [Double] {
    var nodes: [Double] = []
    nodes.reserveCapacity(Horizon.halfHours + 1)
    for day in 0..<3 { for cost in costs { nodes.append(Double(cost) - Double(day) * Double(rise)) } }
    nodes.append(Double(costs[0]) - 3 * Double(rise))
    return nodes
  }

  /// One backward pass over the day.
  mutating func improve(_ horizon: Horizon, charge: Double) {
    var horizon = horizon
    let old = costs.map(Double.init)
    for half in 0..<48 {
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
    let least = horizon.future[0..<48].min() ?? 0
    var sum = 0.0
    for half in 0..<48 {
      sum += horizon.future[half] - old[half]
      costs[half] = Float(horizon.future[half] - least)
    }
    rise = Float(sum / 48)
  }
}
