import RefreshEngine

struct StaleIsToldOnce: Invariant {
  static let promise = "Data older than its file wants is told of, once until it is fresh again, and no other data is."
  /// The latest end of the last backlog: until then the apps have their chance.
  private var chancesUntil: Instant?

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    let now = world.instant
    switch observation {
    case .daemonStarted: chancesUntil = now
    case .handled(let turn):
      switch turn.event {
      case .configured, .resumed, .clockStepped: chancesUntil = max(now, world.book.settlingUntil ?? now) + .minutes(5)
      default: break
      }
      for case .reportStale(let run, let since) in turn.decision.effects {
        let app = run.app
        guard let before = turn.before[app], let seen = world.book.apps[app] else { return "\(app) is not there" }
        if seen.isOff || seen.policy == nil { return "\(app) is stale and nobody expects it to be fresh" }
        if before.isStaleReported, before.isPastObjective(at: now) { return "\(app) is reported twice" }
        if !seen.isPastObjective(at: now) { return "\(app) is told of and is not stale" }
        if seen.run != nil { return "\(app) is told of while it is refreshed" }
        if since != seen.freshAt ?? seen.seenAt { return "\(app) is told of with another age" }
      }
      guard let chancesUntil, chancesUntil < now, !world.book.isStopping else { return nil }
      for (id, app) in world.book.apps where app.isPastObjective(at: now) && !app.isStaleReported {
        if app.run == nil, !app.isOff { return "\(id) is stale and not told of" }
      }
    default: break
    }
    return nil
  }
}
