// The staleness ladder: with the age of the data, constraints are relaxed one after the other (FEATURES D5).

extension App {
  /// How many intervals old data may be before constraints are relaxed, unless the file says (FEATURES D5).
  static let intervalsToStale: Int64 = 3
  /// What stands for the interval of an app whose background interval is `minimum` or `never`: the default.
  static let usualInterval = Duration.hours(24)

  /// The age of the data from which constraints are relaxed.
  var maxStale: Duration {
    if let maxStale = policy?.maxStale { return maxStale }
    guard case .every(let interval)? = interval(in: .background) else {
      return Self.usualInterval.times(Self.intervalsToStale)
    }
    return interval.times(Self.intervalsToStale)
  }

  /// Since when the data is as old as it is; for data that there never was, since the app is known.
  var ageBegan: Instant? { state.freshAt ?? state.seenAt }

  /// When a constraint is relaxed, boot clock; nil when it never is.
  ///
  /// One rung at a time, a third of `max_stale` apart: the user's idleness, the machine's calm, power, and last, if the
  /// app's file says so, the price of the network. No network at all is never relaxed: nothing could be refreshed. Nor is
  /// anything of long work, which would be in the user's way (FEATURES B10).
  func relaxedAt(_ constraint: Constraint) -> Instant? {
    guard let ageBegan, let policy, !policy.isProcessing else { return nil }
    let maxStale = maxStale
    return switch constraint {
    case .idle: ageBegan + maxStale
    case .calm: ageBegan + maxStale + maxStale.part(of: 3)
    case .power: ageBegan + maxStale + maxStale.times(2).part(of: 3)
    case .network: policy.meteredWhenStale ? ageBegan + maxStale.times(2) : nil
    }
  }
}
