// The staleness ladder: ageing data relaxes constraints one after the other.

extension App {
  /// When a constraint is relaxed, boot clock; nil if it never is.
  ///
  /// The rungs lie a third of `max_stale` apart: idleness, calm, power and, if the app's file allows it, a metered network.
  /// Never relaxed are the need for a network, conditions of the app's own, and the constraints of guards and of long work,
  /// which would disturb the user.
  func relaxedAt(_ constraint: Constraint) -> Instant? {
    guard let rung = constraint.rung, let ageBegan, let policy, !policy.isProcessing, policy.guarded == nil else {
      return nil
    }
    if constraint == .network, !policy.meteredWhenStale { return nil }
    let maxStale = maxStale
    return ageBegan + maxStale + maxStale.times(rung).part(of: 3)
  }
}
