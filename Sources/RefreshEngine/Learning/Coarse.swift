// The coarse habit: two months of openings by half hour, spread widely.

extension Use {
  /// Openings by half hour, of the days of the week (0) or of weekends (1).
  private func openings(ofKind kind: Int) -> [Double] {
    openings[(kind * Self.halfHours)..<((kind + 1) * Self.halfHours)].map { max(Double($0), 0) }
  }

  /// Pseudo-openings of the pool's shape in an app's own.
  private static let poolWeight = 3.0
  /// Pseudo-openings spread over the whole day: no half hour is ever ruled out.
  private static let evenWeight = 1.0
  /// Pseudo-days of the whole week's volume in that of one kind of day.
  ///
  /// Measured: three fleets, two of them with weekends of their own, gain a tenth or two of a percent from 3 in place
  /// of 7.
  private static let weekDays = 3.0

  /// Openings expected, by half hour, on a day of the week and on one of a weekend.
  ///
  /// Shape × volume. The shape is that of all openings, spread (see ``Circle``); the volume is (openings + ½) /
  /// (days + 1). Each goes over to that of the kind of day by the chance that the two kinds differ in it at all
  /// (see ``Weekends``), so that a fleet without weekends pays nothing for learning them.
  func coarse(pool: [Float]) -> [[Double]] {
    let (week, weekend) = (openings(ofKind: 0), openings(ofKind: 1))
    let all = zip(week, weekend).map(+)
    let rate = (all.reduce(0, +) + 0.5) / (Double(days.sum()) + 1)
    let even = Self.evenWeight / Double(Self.halfHours)
    let prior = pool.map { (Self.poolWeight * Double($0) + even) / (Self.poolWeight + Self.evenWeight) }
    let shape = Circle.smoothed(all, prior, weight: Self.poolWeight + Self.evenWeight)
    let differ = Weekends.differ(week, weekend, days: SIMD2(days), shape: shape)
    func apart(_ own: [Double], _ days: Double) -> [Double] {
      let volume = (own.reduce(0, +) + Self.weekDays * rate) / (days + Self.weekDays)
      let expected = rate + differ.volume * (volume - rate)
      // A hundredth of a difference is not worth the second spreading.
      guard differ.shape > 0.01 else { return shape.map { $0 * expected } }
      let ownShape = Circle.smoothed(own, shape, weight: Weekends.weight)
      return zip(shape, ownShape).map { ($0 + differ.shape * ($1 - $0)) * expected }
    }
    return [apart(week, Double(days[0])), apart(weekend, Double(days[1]))]
  }

  /// The part of the coarse habit that is supposed, not seen.
  var coarseSupposed: Double {
    let weight = Self.poolWeight + Self.evenWeight
    return weight / (Double(total) + weight)
  }
}
