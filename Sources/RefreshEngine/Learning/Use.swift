import CMath

/// When the user comes, learnt from foreground entries.
struct Use: Hashable, Sendable {
  /// Half hours of a day, for the coarse habit.
  static let halfHours = 48
  /// Timeslots of ten minutes of a day.
  static let timeslots = 144
  /// Minutes of a timeslot.
  static let timeslotMinutes = 10.0
  /// The remaining part of the past after a night: a memory of about two months.
  static let memory: Float = 0.985
  /// How many days count at most when several end at once; a week has one of each day.
  ///
  /// On the other days the machine was off, or the clock jumped: neither says that the user would not have come.
  static let mostDays = 7

  /// The openings seen by half hour, first on weekdays, then on weekends; faded.
  var openings = Numbers<96, Float16>()
  /// The days seen, weekdays and weekends; faded.
  var days = SIMD2<Float>(0, 0)
  /// The last openings, by timeslot and day.
  var log = OpeningLog()
  /// The weights of ``Explanations``, then of ``Repeats``; all zero before the first day has ended.
  var weights = Numbers<17, Float16>()

  /// How many days, faded, must be seen before an app counts as unused: six weeks.
  ///
  /// Measured: at two weeks a fleet of 200 apps lost up to a tenth of its score, at four and six weeks nothing. The first
  /// opening of an app of that fleet came after three weeks, and met very old data.
  private static let daysToBeUnused: Float = 31
  /// Below how many openings, faded, it is unused: one opening three months ago.
  private static let openingsOfUnused: Float = 0.25

  /// Whether the user does not open the app: never within six weeks, and hardly ever before.
  var isUnused: Bool { days.sum() >= Self.daysToBeUnused && total < Self.openingsOfUnused }

  /// The openings seen, faded.
  var total: Float { openings.reduce(0) { $0 + Float($1) } }

  /// The timeslot of a minute of the day.
  static func timeslot(ofMinute minute: Double) -> Int { min(max(Int(minute / timeslotMinutes), 0), timeslots - 1) }

  /// Notes an opening, several in a timeslot as one; true if it is the first in its timeslot.
  @discardableResult mutating func opened(at moment: LocalTime) -> Bool {
    let timeslot = Self.timeslot(ofMinute: moment.minuteOfDay)
    guard log.opened(day: moment.day, timeslot: timeslot) else { return false }
    openings[index(of: timeslot, onDay: moment.day)] += 1
    return true
  }

  private func index(of timeslot: Int, onDay day: Int) -> Int {
    (LocalTime.isWeekend(day: day) ? Self.halfHours : 0) + timeslot / 3
  }

  /// Ends days, of which at most ``mostDays`` count.
  ///
  /// Each counts as seen, weighs the explanations by how well they foretold it, and fades the past.
  ///
  /// `shared` is the use that the machine's apps share.
  mutating func passDays(_ past: Range<Int>, _ shared: SharedUse) {
    if log.day == nil { log.advance(to: past.lowerBound) }
    for day in OpeningLog.seen(of: past) {
      log.skip(to: day)
      learnWeights(of: day, shared)
      log.end(day)
      days *= Self.memory
      days[LocalTime.isWeekend(day: day) ? 1 : 0] += 1
      for index in openings.indices { openings[index] = Float16(Float(openings[index]) * Self.memory) }
    }
    log.advance(to: past.upperBound)
  }

  /// Weighs the explanations by how well each foretold a day that ends.
  private mutating func learnWeights(of day: Int, _ shared: SharedUse) {
    let opened = log.days.timeslots(onDay: day)
    // The openings of the day itself were unknown before it.
    var before = self
    for timeslot in opened { before.openings[index(of: timeslot, onDay: day)] -= 1 }
    let explanations = Explanations(log, coarse: before.coarse(shared), pool: shared.pool)
    let (mixed, repeats) = (mixture(shared), repeats)
    let expected = explanations.expected(onDay: day, weights: mixed).openings
    let weights =
      Explanations.weights(
        mixed, explanations.evidence(onDay: day, opened), before: shared.weights.map(Double.init),
        share: Explanations.share)
      + Explanations.weights(
        repeats.weights, Repeats.evidence(expected, opened), before: Repeats.before, share: Repeats.share)
    self.weights = Numbers(weights.map { Float16($0) })
  }

  private var isNew: Bool { weights.allSatisfy { $0 == 0 } }

  /// The weights of the explanations; nil before the first day has ended.
  var learntWeights: [Double]? { isNew ? nil : weights.prefix(Explanations.count).map(Double.init) }

  /// The weights of the explanations.
  private func mixture(_ shared: SharedUse) -> [Double] { learntWeights ?? shared.weights.map(Double.init) }

  /// Whether openings repeat on a day.
  private var repeats: Repeats {
    Repeats(weights: isNew ? Repeats.before : weights.suffix(Repeats.strengths.count).map(Double.init))
  }

  /// The openings to expect on some days, from the days before them; openings on those days count as met.
  func expected(_ range: Range<Int>, _ shared: SharedUse) -> [ExpectedDay] {
    let explanations = Explanations(log, coarse: coarse(shared), pool: shared.pool)
    let (mixture, repeats) = (mixture(shared), repeats)
    return range.map { day in
      ExpectedDay(
        openings: explanations.expected(onDay: day, weights: mixture).openings, repeats: repeats,
        timeslotsMet: explanations.days.timeslots(onDay: day))
    }
  }

  /// The openings to expect on some days by timeslot, and the supposed part of them.
  func explained(_ some: [Int], _ shared: SharedUse) -> [(openings: [Double], supposed: [Double])] {
    let explanations = Explanations(log, coarse: coarse(shared), pool: shared.pool)
    let mixture = mixture(shared)
    return some.map { day in
      let (openings, typical) = explanations.expected(onDay: day, weights: mixture)
      let coarse = explanations.coarse(onDay: day, weights: mixture)
      let supposed = openings.indices.map { timeslot in
        min(typical * explanations.typical[timeslot] + coarseSupposed * coarse[timeslot / 3] / 3, openings[timeslot])
      }
      return (openings, supposed)
    }
  }
}
