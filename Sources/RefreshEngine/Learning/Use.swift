import CMath

/// When the user comes, learnt from foreground entries.
struct Use: Hashable, Sendable {
  /// Half hours of a day.
  static let halfHours = 48
  /// The part of the past that remains after a night: a memory of about two months.
  static let memory: Float = 0.985
  /// The most days that end at once; a week holds one of each day.
  ///
  /// On the others the machine was off, or the clock jumped, and neither says that the user would not have come.
  static let mostDays = 7

  /// Openings seen by half hour, first those of days of the week, then those of weekends; faded.
  var openings = Numbers<96, Float>()
  /// Days seen, of the week and of weekends; faded.
  var days = SIMD2<Float>(0, 0)

  /// Days that must be seen, faded, before an app counts as unused: six weeks.
  ///
  /// Measured: at two weeks a fleet of 200 apps lost up to a tenth of its score, which it keeps at four weeks and at six.
  /// An app of that fleet was opened for the first time after three weeks, and met data that was very old.
  private static let daysToBeUnused: Float = 31
  /// Openings, faded, below which it does: one of three months ago.
  private static let openingsOfUnused: Float = 0.25

  /// Whether the user does not open the app: not for six weeks and more, and hardly ever before.
  var isUnused: Bool { days.sum() >= Self.daysToBeUnused && openings.reduce(0, +) < Self.openingsOfUnused }

  mutating func opened(at moment: LocalTime) {
    let half = min(Int(moment.minuteOfDay / 30), Self.halfHours - 1)
    openings[(moment.isWeekend ? Self.halfHours : 0) + half] += 1
  }

  /// Ends days, of which only the last ``mostDays`` count: each fades the past and counts as seen.
  mutating func passDays(_ past: Range<Int>) {
    var remains: Float = 1
    for day in past.suffix(Self.mostDays) {
      remains *= Self.memory
      days *= Self.memory
      days[LocalTime.isWeekend(day: day) ? 1 : 0] += 1
    }
    for index in openings.indices { openings[index] *= remains }
  }

  /// Openings by half hour, of the days of the week (0) or of weekends (1).
  func openings(ofKind kind: Int) -> [Double] {
    openings[(kind * Self.halfHours)..<((kind + 1) * Self.halfHours)].map(Double.init)
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
  func expected(pool: [Float]) -> Usage {
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
    let weight = (Self.poolWeight + Self.evenWeight) / (all.reduce(0, +) + Self.poolWeight + Self.evenWeight)
    return Usage(
      week: apart(week, Double(days[0])), weekend: apart(weekend, Double(days[1])),
      partSeen: zip(prior, shape).map { 1 - $0 * weight / $1 })
  }
}
