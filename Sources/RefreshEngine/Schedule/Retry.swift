// Retries: runs a refresh again that failed and is worth a retry, or was cut short.

extension Engine {
  /// The wait for a retry: the back-off, and up to a fifth more.
  ///
  /// The fifth differs from try to try, so that the clients of a server that was down do not all return at once.
  static func retryWait(after failures: Int32, of id: AppID, _ spread: Spread) -> Duration {
    BackOff.refreshes.wait(after: failures) { spread.offset(of: id, within: $0 / 5, turn: UInt64(failures)) }
  }

  /// When an ended refresh runs again; nil if it does not.
  ///
  /// A refresh that was cut short runs again at once, and counts as neither failure nor success. A failure that is worth a
  /// retry waits for the back-off. A failure with a wait that the app named is always worth a retry.
  mutating func countFailure(
    _ index: AppIndex, _ record: RefreshRecord, isCutShort: Bool, after hint: Duration?, at now: Instant
  ) -> Instant? {
    guard !isCutShort else { return now }
    guard record.outcome.isWorthRetry || hint != nil && !record.outcome.isFresh else {
      apps[index].state.failures = 0
      return nil
    }
    let failures = BackOff.refreshes.counting(apps[index].state.failures)
    apps[index].state.failures = failures
    return now + max(hint ?? .zero, Self.retryWait(after: failures, of: apps.id(at: index), spread))
  }

  /// When to start a refresh again that the machine had no means to start; nil if it had, or after 20 times in a row.
  ///
  /// This counts as no failure for the back-off: the app has done nothing wrong.
  mutating func startsAgainAt(
    _ index: AppIndex, _ refreshing: Refreshing, _ record: RefreshRecord, at now: Instant
  ) -> Instant? {
    guard refreshing.tasks.lackedMeans, record.hasStartedNothing, apps[index].failedStarts < 20 else {
      apps[index].failedStarts = 0
      return nil
    }
    apps[index].failedStarts += 1
    return now + BackOff.starts.wait(after: apps[index].failedStarts) { spread.offset(of: record.app, within: $0 / 5) }
  }
}

extension App {
  /// Postpones a pending retry to the instant of the newest failure's retry.
  mutating func delayRetry(until instant: Instant) {
    guard let asked = state.request, asked.trigger == .retry else { return }
    state.request?.earliest = max(asked.earliest, instant)
  }
}

extension Outcome {
  /// Whether the cause of the failure may be gone at the next try.
  fileprivate var isWorthRetry: Bool {
    switch self {
    case .failed(.temporary), .failed(.lostClient): true
    default: false
    }
  }
}

extension TaskRecord {
  /// Whether the daemon, a lost constraint or sleep stopped the task, and not the task itself or the user.
  var isCutShort: Bool {
    if outcome == .failed(.daemonCrashed) { return true }
    guard case .failed(.stopped(let reason)) = outcome else { return false }
    return reason == .shutdown || reason == .constraintLost || reason == .sleep
      || reason == .notTaken
  }
}
