import CMath

/// Several models of when an app is opened, mixed by how well each foretold every day so far.
///
/// The last models are the coarse habits (``Use/coarse(_:)``). The others are kernels over the openings of
/// ``OpeningLog``: each pairs a way to weigh past days with a width. None suits all apps: a clockwork habit wants six
/// minutes, a new habit wants the last days only, a shop on Sundays wants Sundays only.
struct HabitModels {
  /// The past days that count for the expected day.
  private enum Kind: CaseIterable {
    /// All days, faded by 3 % a day.
    case slow
    /// All days, faded by 20 % a day.
    case fast
    /// Days of the week, or weekends; faded by 1.5 % a day.
    case kindOfDay
    /// The same day of the week; faded by 1.5 % a day.
    case sameDay

    /// Whether it selects some of all days.
    var isPart: Bool { self == .kindOfDay || self == .sameDay }

    /// Whether it selects a past day for the expected day.
    func picks(_ other: Int, for day: Int) -> Bool {
      switch self {
      case .slow, .fast: false
      case .kindOfDay: LocalTime.isWeekend(day: other) == LocalTime.isWeekend(day: day)
      case .sameDay: (day - other) % 7 == 0
      }
    }

    /// The faded openings near each other that count as half a habit.
    ///
    /// `fast` sees few days, so it needs fewer openings.
    var doubted: Double { self == .fast ? 0.75 : 1.5 }

    /// The remaining weight of a day, by the number of later days.
    var memory: [Double] {
      switch self {
      case .slow: HabitModels.slow
      case .fast: HabitModels.fast
      case .kindOfDay, .sameDay: HabitModels.long
      }
    }
  }

  private static func memory(_ kept: Double) -> [Double] { (0..<256).map { pow(kept, Double($0)) } }
  private static let slow = memory(0.97)
  private static let fast = memory(0.8)
  private static let long = memory(0.985)
  /// The most openings expected in a timeslot.
  private static let most = 0.999

  /// Widths of the kernels, in timeslots: 6, 13 and 30 min.
  ///
  /// Wider habits are the coarse habits.
  private static let widths = [0.6, 1.3, 3]
  /// How many kernels there are.
  private static let fine = Kind.allCases.count * widths.count
  /// How many models there are, the coarse habits last.
  static let count = fine + Use.coarsePriors.count
  /// Their weights before anything is seen, on any app of the machine: four fifths for the coarse habits.
  static let before: [Double] =
    [Double](repeating: 0.2 / Double(fine), count: fine) + Use.coarsePriors.map(\.chance)
  /// The part of the weights that returns each night to a new app's weights, so that each explanation can recover.
  static let share = 0.05
  /// Pseudo-days of the machine's typical day, and pseudo-days of all days among the days of one kind.
  private static let doubt = 1.0
  /// How many timeslots apart openings are near each other.
  private static let near = 2

  /// The right half of each kernel; the whole kernel is normed to one.
  private static let kernels: [[Double]] = widths.map { width in
    let half = (0...Int((3.5 * width).rounded(.up))).map { exp(-0.5 * Double($0 * $0) / (width * width)) }
    let sum = 2 * half.reduce(0, +) - half[0]
    return half.map { $0 / sum }
  }

  /// The openings by timeslot that one way to weigh past days expects, before they are spread.
  private struct Seen {
    var openings: [Double]
    /// Further openings in the shape of the typical day.
    var typical: Double

    /// Lowers the weight of an isolated opening: it may come at any time.
    ///
    /// With c openings near it, and `half` as the count of half a habit, an opening is expected again at its time with the
    /// share c² / (c² + half²). The rest takes the shape of the typical day.
    ///
    /// Measured: people of habit gain .02 to .03 of the score, the other fleets .01 at most.
    mutating func doubt(_ counts: [Double], _ half: Double) {
      for timeslot in openings.indices where openings[timeslot] > 0 {
        let around = (-HabitModels.near...HabitModels.near).reduce(0) {
          $0 + counts[(timeslot + $1 + Use.timeslots) % Use.timeslots]
        }
        let doubted = openings[timeslot] * half * half / (around * around + half * half)
        openings[timeslot] -= doubted
        typical += doubted
      }
    }
  }

  let days: OpeningLog.Days
  /// The openings that each coarse habit expects by half hour, on weekdays and on weekends.
  let coarse: [[[Double]]]
  /// The share of each timeslot in the typical day.
  let typical: [Double]

  /// Explains a log; `pool` is the shape of the machine's typical day by half hour.
  init(_ log: OpeningLog, coarse: [[[Double]]], pool: [Float]) {
    days = log.days
    self.coarse = coarse
    typical = (0..<Use.timeslots).map { (0.75 * Double(pool[$0 / 3]) + 0.25 / Double(Use.halfHours)) / 3 }
  }

  /// The openings that each way to weigh past days expects on a day, from the days before it.
  private func seen(before day: Int) -> [Seen] { Kind.allCases.map { seen(before: day, $0) } }

  private func seen(before day: Int, _ kind: Kind) -> Seen {
    let memory = kind.memory
    // All days, and the days that the kind selects; the timeslots of both lie in one array.
    var (all, own) = (0.0, 0.0)
    for other in days.seen where other < day {
      let weight = memory[min(day - 1 - other, memory.count - 1)]
      all += weight
      if kind.picks(other, for: day) { own += weight }
    }
    let (ofAll, ofOwn) = (1 / (all + Self.doubt), kind.isPart ? 1 / (own + Self.doubt) : 0)
    let ofRest = kind.isPart ? Self.doubt * ofAll * ofOwn : ofAll
    var openings = [Double](repeating: 0, count: Use.timeslots)
    var counts = openings
    var total = 0.0
    for opening in days.openings where opening.day < day {
      let weight = memory[min(day - 1 - opening.day, memory.count - 1)]
      total += weight
      counts[opening.timeslot] += weight
      openings[opening.timeslot] += weight * (kind.picks(opening.day, for: day) ? ofRest + ofOwn : ofRest)
    }
    var seen = Seen(openings: openings, typical: Self.doubt * (total + 0.5) / (all + 1) * ofRest)
    seen.doubt(counts, kind.doubted)
    return seen
  }

  /// The openings that the coarse habits expect by half hour of a day, weighed.
  func coarse(onDay day: Int, weights: [Double]) -> [Double] {
    let kind = LocalTime.isWeekend(day: day) ? 1 : 0
    var mixed = [Double](repeating: 0, count: Use.halfHours)
    for (coarse, weight) in zip(coarse, weights[Self.fine...]) {
      for half in mixed.indices { mixed[half] += weight * coarse[kind][half] }
    }
    return mixed
  }

  /// The openings to expect in each timeslot of a day, from the days before it; `prior` of them were supposed, not seen.
  func expected(onDay day: Int, weights: [Double]) -> (openings: [Double], prior: Double) {
    let coarse = coarse(onDay: day, weights: weights)
    let seen = seen(before: day)
    var openings = (0..<Use.timeslots).map { coarse[$0 / 3] / 3 }
    var prior = 0.0
    for (index, kernel) in Self.kernels.enumerated() {
      var sum = [Double](repeating: 0, count: Use.timeslots)
      for (number, seen) in seen.enumerated() {
        let weight = weights[number * Self.kernels.count + index]
        prior += weight * seen.typical
        for timeslot in 0..<Use.timeslots { sum[timeslot] += weight * seen.openings[timeslot] }
      }
      for timeslot in 0..<Use.timeslots where sum[timeslot] > 0 {
        Self.lay(sum[timeslot], at: timeslot, kernel, on: &openings)
      }
    }
    for timeslot in 0..<Use.timeslots {
      openings[timeslot] = min(openings[timeslot] + prior * typical[timeslot], Self.most)
    }
    return (openings, prior)
  }

  private static func lay(_ count: Double, at timeslot: Int, _ kernel: [Double], on circle: inout [Double]) {
    circle[timeslot] += count * kernel[0]
    for distance in 1..<kernel.count {
      circle[(timeslot + distance) % Use.timeslots] += count * kernel[distance]
      circle[(timeslot + Use.timeslots - distance) % Use.timeslots] += count * kernel[distance]
    }
  }

  /// The log of how likely each explanation makes the openings of a day, from the days before it.
  func evidence(onDay day: Int, _ opened: [Int]) -> [Double] {
    func evidence(_ total: Double, _ at: (Int) -> Double) -> Double {
      opened.reduce(-total) { $0 + log(min(max(at($1), 1e-6), Self.most)) }
    }
    let kind = LocalTime.isWeekend(day: day) ? 1 : 0
    let kernels = Self.kernels
    return seen(before: day).flatMap { seen in
      let total = seen.openings.reduce(0, +) + seen.typical
      return kernels.map { kernel in
        evidence(total) { timeslot in
          var sum = seen.typical * typical[timeslot] + seen.openings[timeslot] * kernel[0]
          for distance in 1..<kernel.count {
            sum += kernel[distance] * seen.openings[(timeslot + distance) % Use.timeslots]
            sum += kernel[distance] * seen.openings[(timeslot + Use.timeslots - distance) % Use.timeslots]
          }
          return sum
        }
      }
    } + coarse.map { coarse in evidence(coarse[kind].reduce(0, +)) { coarse[kind][$0 / 3] / 3 } }
  }

  /// The weights after a day with some evidence: updated by Bayes, and partly returned to the first weights.
  static func weights(
    _ weights: [Double], _ evidence: [Double], before: [Double], share: Double
  ) -> [Double] {
    let most = evidence.max() ?? 0
    let grown = zip(weights, evidence).map { $0 * exp($1 - most) }
    let sum = grown.reduce(0, +)
    return zip(grown, before).map { (1 - share) * $0 / sum + share * $1 }
  }
}

// The coarse habit: two months of openings by half hour, spread widely.

extension Use {
  /// Openings by half hour, on weekdays (0) or on weekends (1).
  private func openings(ofKind kind: Int) -> [Double] {
    openings[(kind * Self.halfHours)..<((kind + 1) * Self.halfHours)].map { max(Double($0), 0) }
  }

  /// Pseudo-openings in the shape of the pool, among an app's own.
  private static let poolWeight = 3.0
  /// Pseudo-openings spread over the whole day: no half hour is ever ruled out.
  private static let evenWeight = 1.0
  /// Pseudo-days with the whole week's volume, among the days of one kind.
  ///
  /// Measured: three fleets, two of them with weekends of their own, gain .1 to .2 percent from 3 in place of 7.
  private static let weekDays = 3.0

  /// The shape, the pseudo-openings and the first weight of a coarse habit.
  struct CoarsePrior: Sendable {
    /// Whether the shape follows the app's patterns, and not the machine's typical day.
    var isOfPatterns: Bool
    var openings: Double
    var even: Double
    var chance: Double
  }

  /// The coarse habits: a few openings of the typical day, or more openings in the machine's patterns.
  ///
  /// Measured: on the public fleet 15 openings of the patterns gain .008 of the score, 40 .013, 120 .014. Where each app
  /// has its own times the first is better, so both are weighed.
  static let coarsePriors = [
    CoarsePrior(isOfPatterns: false, openings: poolWeight, even: evenWeight, chance: 0.35),
    CoarsePrior(isOfPatterns: true, openings: 120, even: 0.5, chance: 0.45),
  ]

  /// Openings by half hour, of all days.
  var ofAllDays: [Double] { zip(openings(ofKind: 0), openings(ofKind: 1)).map(+) }

  /// Openings a day: (openings + ½) / (days + 1), and (openings + 6) / 8 until the first midnight.
  ///
  /// While nothing is known of the user, an opening says little about how many follow. Measured against a fixed interval of
  /// the same cost: the data met on the first day is .67 to .98 as old, with the first formula .78 to 1.20.
  private func volume(_ total: Double) -> Double {
    let seen = Double(days.sum())
    return seen > 0 ? (total + 0.5) / (seen + 1) : (total + 6) / 8
  }

  /// Expected openings by half hour, on weekdays and on weekends, for each of ``coarsePriors``.
  ///
  /// Shape × volume. The shape is the shape of all openings, spread (see ``Circle``). It moves to the shape of each kind of
  /// day by the chance that the kinds differ at all (see ``Weekends``), so that a fleet without weekends loses nothing.
  func coarse(_ shared: SharedUse) -> [[[Double]]] {
    let kinds = [openings(ofKind: 0), openings(ofKind: 1)]
    let all = zip(kinds[0], kinds[1]).map(+)
    let total = all.reduce(0, +)
    let rate = volume(total)
    let spread = Circle.spread(all)
    let patterns = shared.patterns.expected(of: all, pool: shared.pool)
    let shapes = Self.coarsePriors.map { prior in
      (0..<Use.halfHours).map { half in
        let before = prior.isOfPatterns ? patterns[half] : Double(shared.pool[half])
        let supposed = prior.openings * before + prior.even / Double(Self.halfHours)
        return (spread[half] + supposed) / (total + prior.openings + prior.even)
      }
    }
    let differ = Weekends.differ(kinds[0], kinds[1], days: SIMD2(days), shape: shapes[0])
    // A difference of a hundredth is not worth the second spreading.
    let isApart = differ.shape > 0.01
    let ofKinds = kinds.indices.map { kind in
      let own = kinds[kind].reduce(0, +)
      let volume = (own + Self.weekDays * rate) / (Double(days[kind]) + Self.weekDays)
      return (
        openings: own, spread: isApart ? Circle.spread(kinds[kind]) : [],
        expected: rate + differ.volume * (volume - rate)
      )
    }
    return shapes.map { shape in
      ofKinds.map { kind in
        guard isApart else { return shape.map { $0 * kind.expected } }
        return zip(shape, kind.spread).map { shape, spread in
          let own = (spread + Weekends.weight * shape) / (kind.openings + Weekends.weight)
          return (shape + differ.shape * (own - shape)) * kind.expected
        }
      }
    }
  }

  /// The supposed part of the coarse habit; the rest was seen.
  var coarseSupposed: Double {
    let weight = Self.poolWeight + Self.evenWeight
    return weight / (Double(total) + weight)
  }
}

/// The circle of half hours of a day, on which openings are spread with normal kernels.
enum Circle {
  /// How many widths of kernels are kept: each is a sixth wider than the last, from ¼ to 32 half hours.
  private static let levels = 32
  private static let narrowest = 0.25
  private static let widest = 32.0

  /// The kernels, each normed to one on the circle and stored twice in a row, so that it can be read from any half hour.
  private static let kernels: [[Double]] = (0..<levels).map { level in
    let width = narrowest * pow(widest / narrowest, Double(level) / Double(levels - 1))
    let once = (0..<Use.halfHours).map { half in
      let distance = Double(min(half, Use.halfHours - half))
      return exp(-0.5 * distance * distance / (width * width))
    }
    let sum = once.reduce(0, +)
    return (once + once).map { $0 / sum }
  }

  /// How wide openings spread at the least and at the most, in half hours: a quarter of an hour, and a third of a day.
  private static let widths = 0.5...8.0
  /// Width of one opening, in half hours.
  private static let firstWidth = 3.5
  /// How much wider openings spread where they are rare, at the least and at the most.
  private static let widening = 0.6...3.0

  /// Openings spread over their neighbours, by half hour.
  ///
  /// The width is 3.5 (N + 1)^(−1/5) half hours for N openings, the power of every rule for such widths, within ½ and 8.
  /// For each half hour it is then multiplied by (its density / the geometric mean at the openings)^(−0.7), within 0.6
  /// and 3: wider where openings are rare (Abramson 1982 has the power ½). The constants were measured:
  /// a width of 3 or 4, or a power of ½, changes the mean score of four fleets by half a percent at most.
  static func spread(_ counts: [Double]) -> [Double] {
    let total = counts.reduce(0, +)
    let width = clipped(firstWidth * pow(total + 1, -0.2), widths)
    // An opening's own kernel is never empty; a thousandth of the mean keeps the logarithm of the rest in bounds.
    var density = [Double](repeating: 1e-3 * max(total, 1) / Double(Use.halfHours), count: Use.halfHours)
    for (half, count) in counts.enumerated() where count > 0 { lay(count, at: half, width: width, on: &density) }
    var logs = 0.0
    for (half, count) in counts.enumerated() { logs += count * log(density[half]) }
    let typical = total > 0 ? logs / total : 0
    var result = [Double](repeating: 0, count: Use.halfHours)
    for (half, count) in counts.enumerated() where count > 0 {
      let wider = clipped(exp(-0.7 * (log(density[half]) - typical)), widening)
      lay(count, at: half, width: width * wider, on: &result)
    }
    return result
  }

  /// Spreads `count` openings of a half hour over the circle.
  private static func lay(_ count: Double, at half: Int, width: Double, on circle: inout [Double]) {
    let step = log(widest / narrowest) / Double(levels - 1)
    let kernel = kernels[min(max(Int((log(width / narrowest) / step).rounded()), 0), levels - 1)]
    let first = Use.halfHours - half
    for target in 0..<Use.halfHours { circle[target] += count * kernel[first + target] }
  }

  private static func clipped(_ number: Double, _ bounds: ClosedRange<Double>) -> Double {
    min(max(number, bounds.lowerBound), bounds.upperBound)
  }
}
