import CMath

/// When the user comes, learnt from foreground entries (FEATURES C2).
struct Use: Hashable, Sendable {
  /// Half hours of a day.
  static let halfHours = 48
  /// What of the past remains after a night: a memory of about two months (planning.md, 2.2).
  static let memory: Float = 0.985
  /// The most days that end at once; a week holds one of each day.
  ///
  /// On the others the machine was off, or the clock jumped, and neither says that the user would not have come.
  static let mostDays = 7

  /// Openings seen by half hour, first those of days of the week, then those of weekends; faded.
  var openings = [Float](repeating: 0, count: 2 * halfHours)
  /// Days seen, of the week and of weekends; faded.
  var days = SIMD2<Float>(0, 0)

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

  /// Openings of both kinds of day together, by half hour.
  var together: [Double] {
    (0..<Self.halfHours).map { Double(openings[$0]) + Double(openings[$0 + Self.halfHours]) }
  }

  /// Openings expected, by half hour, on a day of the week and on one of a weekend.
  func expected(pool: [Float]) -> Usage {
    let all = together
    let rate = (all.reduce(0, +) + 0.5) / (Double(days.sum()) + 1)
    let prior = pool.map { (3 * Double($0) + 0.5 / Double(Self.halfHours)) / 3.5 }
    let base = Circle.smoothed(all, prior, weight: 3.5)
    func apart(_ kind: Int) -> [Double] {
      let own = openings[(kind * Self.halfHours)..<((kind + 1) * Self.halfHours)].map(Double.init)
      let shape = Circle.smoothed(own, base, weight: 15)
      let volume = (own.reduce(0, +) + 7 * rate) / (Double(days[kind]) + 7)
      return shape.map { $0 * volume }
    }
    return Usage(week: apart(0), weekend: apart(1))
  }
}

/// The circle of half hours, on which openings are spread.
enum Circle {
  static let distances = 25

  /// Normal kernels for distances 0…24, normed so that the whole circle sums to one.
  static func kernel(width: Double) -> [Double] {
    var kernel = (0..<distances).map { exp(-0.5 * Double($0 * $0) / (width * width)) }
    var sum = 0.0
    for offset in 0..<48 { sum += kernel[min(offset, 48 - offset)] }
    for index in kernel.indices { kernel[index] /= sum }
    return kernel
  }

  static func smoothed(_ counts: [Double], _ base: [Double], weight: Double) -> [Double] {
    let total = counts.reduce(0, +)
    let narrow = min(max(3 * pow(total + 1, -0.2), 0.5), 8)
    let first = kernel(width: narrow)
    var density = [Double](repeating: 1e-3 * max(total, 1) / 48, count: 48)
    for (source, count) in counts.enumerated() where count > 0 {
      for target in 0..<48 {
        let distance = abs(target - source)
        density[target] += count * first[min(distance, 48 - distance)]
      }
    }
    var logs = 0.0
    var norm = 0.0
    for (source, count) in counts.enumerated() {
      logs += log(density[source]) * (count + 1e-9)
      norm += count + 1e-9
    }
    let typical = exp(logs / norm)
    var result = base.map { $0 * weight }
    for (source, count) in counts.enumerated() where count > 0 {
      let width = narrow * min(max(pow(density[source] / typical, -0.5), 0.6), 3)
      let spread = kernel(width: width)
      for target in 0..<48 {
        let distance = abs(target - source)
        result[target] += count * spread[min(distance, 48 - distance)]
      }
    }
    return result.map { $0 / (total + weight) }
  }
}
