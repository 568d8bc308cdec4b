extension App {
  /// How many intervals old data may be before constraints are relaxed, unless the file says.
  static let intervalsToStale: Int64 = 3
  /// The interval that counts for an app whose background interval is `minimum` or `never`: the default.
  static let usualInterval = Duration.hours(24)

  /// The least ceiling of an app whose refreshes are planned, unless the file says: the plan knows when the user comes, and
  /// the data of an app that nobody opens may be a day old.
  static let leastOfPlanned = Duration.hours(24)

  /// The age of the data from which constraints are relaxed and a refresh no longer waits for a better moment.
  var maxStale: Duration {
    if let maxStale = policy?.maxStale { return maxStale }
    let isPlanned = policy?.isAdaptive == true
    guard case .every(let interval)? = interval(in: .background) else {
      return Self.usualInterval.times(Self.intervalsToStale)
    }
    return max(interval.times(Self.intervalsToStale), isPlanned ? Self.leastOfPlanned : .zero)
  }

  /// When the data was last fresh; when the app was first configured, while there is no data.
  var ageBegan: Instant? { state.freshAt ?? state.seenAt }

  /// The planned instant, bounded by the ceiling; nil for an app that is not planned.
  var plannedInForce: Instant? {
    guard policy?.isAdaptive == true, let planned = state.planned, let lastStart = state.lastStart else { return nil }
    return min(planned, lastStart + maxStale)
  }
}
