// The staleness ladder: with the age of the data, constraints are relaxed one after the other.

extension App {
  /// When a constraint is relaxed, boot clock; nil when it never is.
  ///
  /// The rungs lie a third of `max_stale` apart: idleness, calm, power, and last, if the app's file allows it, a metered
  /// network. The need for a network is never relaxed, nor a condition of the app's own, nor any constraint of long work, which
  /// would disturb the user, or of a guard.
  func relaxedAt(_ constraint: Constraint) -> Instant? {
    guard let rung = constraint.rung, let ageBegan, let policy, !policy.isProcessing, policy.guarded == nil else {
      return nil
    }
    if constraint == .network, !policy.meteredWhenStale { return nil }
    let maxStale = maxStale
    return ageBegan + maxStale + maxStale.times(rung).part(of: 3)
  }
}
