import CMath

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
