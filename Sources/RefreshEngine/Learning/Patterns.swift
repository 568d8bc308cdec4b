import CMath

/// Patterns of use: how the apps of a machine are opened in each of two parts of the day, learnt from all apps.
///
/// Mornings of different apps are alike, and so are evenings. A few openings tell which pattern an app follows, and the
/// pattern tells the rest long before the app's own openings could. The day is cut where apps are opened least. An app may
/// combine any pattern of one part with any pattern of the other.
struct Patterns: Hashable, Sendable {
  /// How many patterns each part of the day has.
  ///
  /// Measured: 6 or 12 change nothing.
  static let count = 8
  /// The fewest half hours in a part of the day.
  private static let leastPart = 12
  /// The openings that each new pattern gets from the whole pool.
  private static let poolWeight = 4.0
  /// The evenly spread part of a pattern, so that no opening excludes it.
  private static let even = 0.005
  /// Pseudo-openings, divided among the parts of the day as the pool's openings are.
  private static let partWeight = 2.0
  /// Openings beyond which an app hardly counts more in the patterns.
  fileprivate static let manyOpenings = 200.0

  /// The share of each half hour in its part of the day, by pattern; the shapes of a part each sum to one.
  let shapes: [Float]
  /// The chance of each pattern of the first part, then of the second.
  let chances: [Float]
  /// The logarithms of the shapes.
  private let logs: [Float]
  /// The part of the day that each half hour belongs to.
  let parts: [Int]

  /// Makes patterns before anything is seen: eight times in each half of the day.
  init() {
    let width = 3.0
    self.init(
      shapes: (0..<Self.count).flatMap { pattern in
        (0..<Use.halfHours).map { half in
          let middle = (Double(pattern) + 0.5) / Double(Self.count) * 24
          let distance = (Double(half % 24) - middle) / width
          return 0.3 + 0.5 * exp(-0.5 * distance * distance)
        }
      }, chances: [Double](repeating: 1, count: 2 * Self.count),
      pool: [Float](repeating: 1, count: Use.halfHours))
  }

  /// Makes patterns from shapes, whose sums need not be 1; the machine's typical day cuts the day into parts.
  init(shapes: [Double], chances: [Double], pool: [Float]) {
    let parts = Self.parts(of: pool)
    var normed = shapes
    for pattern in 0..<Self.count {
      var sums = [0.0, 0.0]
      for half in 0..<Use.halfHours { sums[parts[half]] += shapes[pattern * Use.halfHours + half] }
      for half in 0..<Use.halfHours {
        let sum = sums[parts[half]]
        let ofPart = Double(parts.count { $0 == parts[half] })
        let share = sum > 0 ? shapes[pattern * Use.halfHours + half] / sum : 1 / ofPart
        normed[pattern * Use.halfHours + half] = (1 - Self.even) * share + Self.even / ofPart
      }
    }
    let ofPatterns = (0..<2).flatMap { part in
      let own = chances[(part * Self.count)..<((part + 1) * Self.count)].map { max($0, 1e-3) }
      let sum = own.reduce(0, +)
      return own.map { Float($0 / sum) }
    }
    self.init(stored: normed.map { Float($0) }, chances: ofPatterns, pool: pool)
  }

  /// The range of stored numbers; none is zero.
  static let range: ClosedRange<Float> = 1e-12...1

  /// Restores patterns, and cuts the day by the pool of that night.
  init(stored shapes: [Float], chances: [Float], pool: [Float]) {
    self.shapes = shapes
    self.chances = chances
    logs = shapes.map { Float(log(Double($0))) }
    parts = Self.parts(of: pool)
  }

  /// Cuts the day at its two quietest times.
  private static func parts(of pool: [Float]) -> [Int] {
    let smooth = (0..<Use.halfHours).map { half in
      (-9...9).reduce(0.0) { sum, distance in
        let weight = exp(-0.5 * Double(distance * distance) / 9)
        return sum + weight * Double(pool[(half + distance + Use.halfHours) % Use.halfHours])
      }
    }
    func apart(_ half: Int, _ other: Int) -> Int {
      let distance = abs(half - other)
      return min(distance, Use.halfHours - distance)
    }
    let all = 0..<Use.halfHours
    let first = all.min { smooth[$0] < smooth[$1] } ?? 0
    let second = all.filter { apart($0, first) >= leastPart }.min { smooth[$0] < smooth[$1] } ?? leastPart
    let length = (second - first + Use.halfHours) % Use.halfHours
    return all.map { ($0 - first + Use.halfHours) % Use.halfHours < length ? 0 : 1 }
  }

  /// The chance that an app with these openings by half hour follows each pattern, of part one and then of part two.
  fileprivate func chances(of openings: [Double]) -> [Double] {
    var chances = self.chances.map { log(Double($0)) }
    for (half, count) in openings.enumerated() where count > 0 {
      let first = parts[half] * Self.count
      for pattern in 0..<Self.count { chances[first + pattern] += count * Double(logs[pattern * Use.halfHours + half]) }
    }
    for part in 0..<2 {
      let own = (part * Self.count)..<((part + 1) * Self.count)
      let most = chances[own].max() ?? 0
      var sum = 0.0
      for index in own {
        chances[index] = exp(chances[index] - most)
        sum += chances[index]
      }
      for index in own { chances[index] /= sum }
    }
    return chances
  }

  /// The shape of a day to expect from the openings of an app by half hour; its sum is one.
  func expected(of openings: [Double], pool: [Float]) -> [Double] {
    let chances = chances(of: openings)
    var shares = [0.0, 0.0]
    for half in 0..<Use.halfHours { shares[parts[half]] += openings[half] + Self.partWeight * Double(pool[half]) }
    let sum = max(shares[0] + shares[1], 1e-9)
    return (0..<Use.halfHours).map { half in
      let first = parts[half] * Self.count
      var share = 0.0
      for pattern in 0..<Self.count {
        share += chances[first + pattern] * Double(shapes[pattern * Use.halfHours + half])
      }
      return share * shares[parts[half]] / sum
    }
  }

  /// The sums over the apps of a night: their openings, by the patterns that they may follow.
  struct Sums: Hashable, Sendable {
    private var shapes = [Double](repeating: 0, count: Patterns.count * Use.halfHours)
    private var chances = [Double](repeating: 1, count: 2 * Patterns.count)

    /// Adds an app: its openings count in the patterns that it may follow, by their chances.
    mutating func absorb(_ openings: [Double], of patterns: Patterns) {
      let total = openings.reduce(0, +)
      guard total > 0 else { return }
      let own = patterns.chances(of: openings)
      for index in own.indices { chances[index] += own[index] * total / (total + 1) }
      let weight = 1 / (1 + total / Patterns.manyOpenings)
      for (half, count) in openings.enumerated() where count > 0 {
        let first = patterns.parts[half] * Patterns.count
        for pattern in 0..<Patterns.count {
          shapes[pattern * Use.halfHours + half] += own[first + pattern] * count * weight
        }
      }
    }

    /// The patterns after the night: each opening spread over the half hours around it, plus some of the typical day.
    func learnt(from patterns: Patterns, pool: [Float]) -> Patterns {
      let reach = 3
      let kernel = (0...reach).map { exp(-0.5 * Double($0 * $0)) }
      var ofParts = [0.0, 0.0]
      for half in 0..<Use.halfHours { ofParts[patterns.parts[half]] += Double(pool[half]) }
      let shapes = (0..<Patterns.count).flatMap { pattern in
        (0..<Use.halfHours).map { half in
          let part = patterns.parts[half]
          var sum = 0.0
          for distance in -reach...reach {
            let other = (half + distance + Use.halfHours) % Use.halfHours
            if patterns.parts[other] == part {
              sum += kernel[abs(distance)] * self.shapes[pattern * Use.halfHours + other]
            }
          }
          // 2.5 is the sum of the kernel.
          return sum / 2.5 + Patterns.poolWeight * Double(pool[half]) / max(ofParts[part], 1e-9)
        }
      }
      return Patterns(shapes: shapes, chances: chances, pool: pool)
    }
  }
}
