/// How long to wait before another try: 1 s, doubling, with full jitter.
///
/// Any part of the bound, so that the many who lost the same server do not come back together.
struct BackOff: Hashable, Sendable {
  /// The bound of the first wait.
  var first = Duration.seconds(1)
  /// The bound of every later wait, at most.
  var longest = Duration.seconds(300)
  /// So long a connection must have lasted for the next wait to be a first one again.
  static let stable = Duration.seconds(60)

  private var failures = 0

  init() {}

  init(longest: Duration) { self.longest = longest }

  /// The bound of the next wait.
  var bound: Duration {
    // 1 s doubles to a year in 25 steps.
    min(longest, first * (1 << min(failures, 25)))
  }

  /// Counts a failure, and gives the time to wait.
  mutating func next(_ chance: inout some RandomNumberGenerator) -> Duration {
    defer { failures += 1 }
    return .random(in: .zero...bound, &chance)
  }

  /// The time to wait where another try is not likely to go better soon: the longest, or half of it at the least.
  mutating func last(_ chance: inout some RandomNumberGenerator) -> Duration {
    failures = max(failures, 25)
    return .random(in: longest / 2...longest, &chance)
  }

  /// Forgets the failures.
  mutating func reset() { failures = 0 }
}

extension Duration {
  /// Any of a range, to the millisecond.
  fileprivate static func random(
    in range: ClosedRange<Duration>, _ chance: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: range.lowerBound.milliseconds...range.upperBound.milliseconds, using: &chance))
  }

  /// How many whole milliseconds it has.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
  /// How many whole microseconds it has.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
