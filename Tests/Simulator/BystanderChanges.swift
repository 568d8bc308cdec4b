import RefreshEngine

extension Bystander.App {
  /// The changes in the watched folder since the last refresh.
  struct Change: Sendable {
    var since: Instant
    var last: Instant
    /// Whether no refresh has started since that may have covered the change.
    var isSure = true
  }

  /// Notes a change in its folder, unless its own refresh made it.
  mutating func hear(_ event: Event, of id: AppID, at now: Instant) {
    guard case .changed(id, _) = event, let policy, !policy.watch.isEmpty, run == nil else { return }
    if let until = writesUntil, now < until { return }
    change = Change(since: change?.since ?? now, last: now, isSure: change?.isSure ?? true)
  }

  /// Notes that a refresh or a sync of the app has ended.
  mutating func expectOwnWrites(at now: Instant) { writesUntil = now + .seconds(1) }

  /// The time at which a change asks for a refresh; nil if there is none.
  func dueByChange(_ limits: Limits, at now: Instant) -> Instant? {
    guard let change, let policy else { return nil }
    var due = min(change.last + policy.watchSettle, change.since + policy.watchSettle * 10)
    if let lastStart {
      var spacing = limits.foregroundFloor
      if case .every(let time) = overrides.foregroundInterval ?? policy.foregroundInterval {
        spacing = max(spacing, time)
      }
      due = max(due, lastStart + spacing)
      if strikes.count == 3, strikes[0] + .hours(24) >= strikes[2], phase == .background {
        let rested = strikes[2] + .hours(24)
        if rested > now { due = max(due, min(rested, lastStart + maxStale)) }
      }
    }
    return max(due, refusedUntil ?? due)
  }
}
