import RefreshEngine

/// The back-off of a connection: 1 s, doubling, with full jitter.
///
/// The wait is a random part of the bound, so that the many clients of a failed server do not return together.
struct SourceBackOff: Hashable, Sendable {
  /// The bound of the first wait.
  var first = Duration.seconds(1)
  /// The largest bound.
  var longest = Duration.seconds(300)
  /// The least time of a connection that resets the back-off: less than proxies wait for a word of the server.
  static let stable = Duration.seconds(30)

  private var failures: Int32 = 0

  init() {}

  init(longest: Duration) { self.longest = longest }

  /// The bound of the next wait.
  var bound: Duration { BackOff(first: first, longest: longest, mostFailures: 26).wait(after: failures + 1) }

  /// Counts a failure, and returns the time to wait.
  mutating func next(_ chance: inout some RandomNumberGenerator) -> Duration {
    defer { failures += 1 }
    return .random(in: .zero...bound, &chance)
  }

  /// The time to wait if an early try is unlikely to succeed: between half of the longest wait and all of it.
  mutating func last(_ chance: inout some RandomNumberGenerator) -> Duration {
    failures = max(failures, 25)
    return .random(in: longest / 2...longest, &chance)
  }

  /// Forgets the failures.
  mutating func reset() { failures = 0 }
}

extension Duration {
  /// A random duration of a range, in whole milliseconds.
  fileprivate static func random(
    in range: ClosedRange<Duration>, _ chance: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: range.lowerBound.milliseconds...range.upperBound.milliseconds, using: &chance))
  }

  /// The number of whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
  /// The number of whole microseconds.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
