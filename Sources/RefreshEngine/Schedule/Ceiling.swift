extension App {
  /// How many intervals old data may be before constraints are relaxed, by default.
  static let intervalsToStale: Int64 = 3
  /// The interval of an app whose background interval is `minimum` or `never`, for its ceiling: the default.
  static let usualInterval = Duration.hours(24)

  /// The least ceiling of a planned app, by default: the plan knows when the user comes, and an app that nobody opens may
  /// have data a day old.
  static let leastOfPlanned = Duration.hours(24)

  /// The age of the data at which constraints begin to relax, and at which a refresh waits for no better moment.
  var maxStale: Duration {
    if let maxStale = policy?.maxStale { return maxStale }
    guard case .every(let interval)? = interval(in: .background) else {
      return Self.usualInterval.times(Self.intervalsToStale)
    }
    return max(interval.times(Self.intervalsToStale), isPlanned ? Self.leastOfPlanned : .zero)
  }

  /// Whether a plan chooses the moments of background refreshes, if the app has any by time.
  ///
  /// An interval that a person set is the schedule, so that it acts at once.
  var isPlanned: Bool {
    if case .every? = state.overrides.backgroundInterval { return false }
    return policy?.isAdaptive == true
  }

  /// When the data was last fresh; without data, when the app was first configured.
  var ageBegan: Instant? { state.freshAt ?? state.seenAt }

  /// The planned instant, bounded by the ceiling; nil if the app is not planned.
  var plannedInForce: Instant? {
    guard isPlanned, let planned = state.planned, let lastStart = state.lastStart else { return nil }
    return min(planned, lastStart + maxStale)
  }
}
