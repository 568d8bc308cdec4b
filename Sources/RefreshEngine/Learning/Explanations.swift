import CMath

/// Several explanations of when an app is opened, mixed by how well each foretold every day so far.
///
/// The last explanations are the coarse habits (``Use/coarse(_:)``). The others are kernels over the openings of
/// ``OpeningLog``: each pairs a way to weigh past days with a width. None suits all apps: a clockwork habit wants six
/// minutes, a new habit wants the last days only, a shop on Sundays wants Sundays only.
struct Explanations {
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
      case .slow: Explanations.slow
      case .fast: Explanations.fast
      case .kindOfDay, .sameDay: Explanations.long
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
  /// How many explanations there are, the coarse habits last.
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
        let around = (-Explanations.near...Explanations.near).reduce(0) {
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
