/// Hints of a refresh about the next one, merged over its tasks: `Retry-After` and `max-age` of the servers.
public struct ServerHints: Hashable, Sendable {
  /// The longest wait that a task may ask for.
  static let longestRetryAfter = Duration.hours(24)
  /// The longest time for which a task may promise that there is nothing newer.
  ///
  /// The app's ceiling may start a refresh earlier all the same.
  static let longestFreshFor = Duration.hours(24)

  /// The shortest wait after a failed refresh before its retry; nil if no task named a wait.
  public private(set) var retryAfter: Duration?
  /// How long after a successful refresh there is nothing newer; nil if no task promised it.
  public private(set) var freshFor: Duration?

  /// Makes empty hints.
  public init() {}

  /// Merges a wait that one task asks for: the longest wait counts.
  public mutating func merge(retryAfter wait: Duration) {
    retryAfter = max(retryAfter ?? .zero, min(wait, Self.longestRetryAfter))
  }

  /// Merges a time of freshness that one task promises: the shortest counts.
  public mutating func merge(freshFor span: Duration) {
    freshFor = min(freshFor ?? span, span, Self.longestFreshFor)
  }

  /// Decides which freshness a task merges into its refresh.
  ///
  /// The only task of a refresh speaks for the refresh. With several tasks, `fresh_for` counts only if every task
  /// fetches. A missing value then means zero: that task may have new data at once.
  ///
  /// - Parameters:
  ///   - promised: the promise of the task, if any.
  ///   - tasks: for each task of the refresh whether it fetches; empty for an attached process.
  /// - Returns: the freshness to merge; nil to merge nothing.
  public static func freshFor(_ promised: Duration?, tasks: [Bool]) -> Duration? {
    guard tasks.count > 1 else { return promised }
    return tasks.allSatisfy(\.self) ? promised ?? .zero : nil
  }
}
