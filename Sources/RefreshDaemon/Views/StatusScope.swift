import RefreshAPI
import RefreshConfig
import RefreshEngine

/// The state of some apps together, for the status.
struct StatusScope {
  /// The refresh that starts next or, if no start is known, is due next.
  private(set) var next: Wire.NextRefresh?
  /// How many of the apps each hold keeps; nil if none is held.
  let held: [Wire.HeldCount]?
  /// How many pushes wait; nil if none does.
  let pushesWaiting: Int?
  /// How many refreshes are running.
  let refreshing: Int

  /// - Parameter isAll: whether these are all apps.
  init(_ apps: [AppConfiguration], isAll: Bool, of engine: Engine, at now: Instant) {
    let ids = apps.map(\.id)
    let asked = isAll ? nil : Set(ids)
    let held = engine.heldCounts(at: now, of: asked).sorted { $0.key.rawValue < $1.key.rawValue }
    self.held = held.isEmpty ? nil : held.map { Wire.HeldCount(hold: $0.key.rawValue, apps: $0.value) }
    let pushes = ids.reduce(0) { $0 + engine.waitingPushes(of: $1, at: now).count }
    pushesWaiting = pushes > 0 ? pushes : nil
    refreshing = engine.refreshingCount(of: asked)
    let wall = { (instant: Instant) in instant.wallMicroseconds(at: engine.wallOffset) }
    next = Self.first(of: ids, engine, at: now).map { first in
      Wire.NextRefresh(
        app: first.app.description, dueMicroseconds: wall(first.prospect.due?.earliest ?? first.at),
        startMicroseconds: (first.prospect.start?.earliest).map(wall),
        holds: first.prospect.holds.isEmpty ? nil : first.prospect.holds.map(\.name.rawValue))
    }
  }

  private typealias Candidate = (isHeld: Bool, at: Instant, app: AppID, prospect: Prospect)

  /// The app that starts first or, if no start is known, is due first.
  private static func first(of ids: [AppID], _ engine: Engine, at now: Instant) -> Candidate? {
    var nights = NightsAhead(from: now)
    var first: Candidate?
    for id in ids {
      guard let prospect = engine.prospect(of: id, at: now, &nights),
        let at = prospect.start?.earliest ?? prospect.due?.earliest
      else { continue }
      let other = (isHeld: prospect.start == nil, at: at, app: id, prospect: prospect)
      let isSooner = first.map { other.isHeld == $0.isHeld ? other.at < $0.at : !other.isHeld } ?? true
      if isSooner { first = other }
    }
    return first
  }
}
