import RefreshEngine

extension Bystander.App {
  /// Changes in the watched folder that no refresh has come after.
  struct Change: Sendable {
    var since: Instant
    var last: Instant
    /// Whether no refresh has started since that may or may not have served it.
    var isSure = true
  }

  /// Something has changed in its folder, unless it is the work of its own refresh.
  mutating func hear(_ event: Event, of id: AppID, at now: Instant) {
    guard case .changed(id, _) = event, let policy, !policy.watch.isEmpty, run == nil else { return }
    if let until = writesUntil, now < until { return }
    change = Change(since: change?.since ?? now, last: now, isSure: change?.isSure ?? true)
  }

  /// A refresh has ended, or the app made a sync by itself.
  mutating func noteOwnWrites(at now: Instant) { writesUntil = now + .seconds(1) }

  /// When a change asks for a refresh; nil while there is none.
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
