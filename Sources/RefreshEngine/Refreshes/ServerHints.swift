/// Hints of a refresh about the next one, merged over its tasks: `Retry-After` and `max-age` of the servers.
public struct ServerHints: Hashable, Sendable {
  /// The longest wait that a task may ask for.
  static let longestRetryAfter = Duration.hours(24)
  /// The longest time for which a task may promise that there is nothing newer.
  ///
  /// Even then the app's ceiling may start a refresh earlier.
  static let longestFreshFor = Duration.hours(24)

  /// How long after its end a failed refresh is tried again at the earliest; nil when no task said.
  public private(set) var retryAfter: Duration?
  /// For how long after a refresh that did not fail there is nothing newer; nil when no task said.
  public private(set) var freshFor: Duration?

  /// Makes hints that say nothing.
  public init() {}

  /// Merges a wait that one task asks for: the longest wait counts.
  public mutating func merge(retryAfter wait: Duration) {
    retryAfter = max(retryAfter ?? .zero, min(wait, Self.longestRetryAfter))
  }

  /// Merges a time of freshness that one task promises: the data that ages first counts.
  public mutating func merge(freshFor span: Duration) {
    freshFor = min(freshFor ?? span, span, Self.longestFreshFor)
  }

  /// The freshness to merge for a task of a refresh; nil for none.
  ///
  /// The only task of a refresh speaks for the refresh. With several tasks, `fresh_for` counts only if every task
  /// fetches, and a missing one means zero: that task may have something new at once.
  ///
  /// - Parameters:
  ///   - promised: what the task said, if anything.
  ///   - tasks: for each task of the refresh whether it fetches; empty for an attached process.
  public static func freshFor(_ promised: Duration?, tasks: [Bool]) -> Duration? {
    guard tasks.count > 1 else { return promised }
    return tasks.allSatisfy(\.self) ? promised ?? .zero : nil
  }
}
