/// Exponential back-off: the wait doubles with each failure in a row, up to a longest wait.
///
/// The caller adds the jitter: the engine a stable part for each app, a client a random part.
public struct BackOff: Hashable, Sendable {
  /// The wait after the first failure.
  public let first: Duration
  /// The longest wait, jitter included.
  public let longest: Duration
  /// The number of failures in a row after which the wait no longer doubles.
  public let mostFailures: Int32

  /// Retries of refreshes: 30 s, doubled up to 4 h 16 min, with jitter 5 h at most.
  public static let refreshes = BackOff(first: .seconds(30), longest: .hours(5), mostFailures: 10)
  /// Retries of transfers: 1 s, doubled up to 4 h 33 min, with jitter 5 h at most.
  public static let transfers = BackOff(first: .seconds(1), longest: .hours(5), mostFailures: 15)

  /// Retries of transfers whose content was wrong: 1 min, doubled, because each try may move the whole file.
  public static let wrongContent = BackOff(first: .minutes(1), longest: .hours(5), mostFailures: 10)

  /// Questions to a command that has said no to a condition of the app's own: 30 s, doubled up to 15 min.
  public static let questions = BackOff(first: .seconds(30), longest: .minutes(15), mostFailures: 6)

  /// Refreshes that the machine had no means to start: 5 s, doubled up to 5 min.
  public static let starts = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  /// The time that conditions must last before a guard returns its unit: 5 s, doubled up to 5 min.
  public static let guards = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  /// Makes a back-off.
  public init(first: Duration, longest: Duration, mostFailures: Int32) {
    (self.first, self.longest, self.mostFailures) = (first, longest, mostFailures)
  }

  /// The count after one more failure; it stops at ``mostFailures``.
  public func counting(_ failures: Int32) -> Int32 { min(failures + 1, mostFailures) }

  /// The wait after some failures in a row, at least one.
  ///
  /// `jitter` gives what to add to the doubled wait, by default nothing.
  public func wait(after failures: Int32, jitter: (Duration) -> Duration = { _ in .zero }) -> Duration {
    let doubled = first * (1 << Int(min(max(failures, 1), mostFailures) - 1))
    return min(longest, doubled + jitter(doubled))
  }
}
