/// Intervals set at run time, which take the place of the file's until they are reset.
public struct Overrides: Hashable, Sendable {
  /// In place of the file's foreground interval, if set.
  public var foregroundInterval: Interval?
  /// In place of the file's background interval, if set.
  public var backgroundInterval: Interval?

  /// Makes overrides; nothing is overridden by default.
  public init(foregroundInterval: Interval? = nil, backgroundInterval: Interval? = nil) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
  }
}

extension Engine {
  /// Sets an app's intervals in place of its file's.
  mutating func override(_ id: AppID, _ overrides: Overrides, _ turn: inout Turn) {
    guard let before = apps[id], before.state.overrides != overrides else { return }
    apps[id]?.state.overrides = overrides
    dropOutdated(id, before: before, limits, &turn)
    plansAny = plansAny || apps[id].map(isPlanned) ?? false
    setNight(at: turn.now)
    plan(id, at: turn.now)
    touch(id, &turn)
    turn.decision.changes.apps.insert(id)
  }

  /// Drops the request of an interval that is no longer in force; the new interval makes its own.
  ///
  /// After a start of the daemon the earlier interval is unknown. Then a request stays if the present interval allows it,
  /// such as the request of an app in a backlog.
  mutating func dropOutdated(_ id: AppID, before: App, _ limitsBefore: Limits, _ turn: inout Turn) {
    guard let app = apps[id], let request = app.state.request, request.trigger.isByTime else { return }
    let spacing = app.spacing(in: app.phase, limits: limits)
    let isOutdated: Bool
    if before.policy != nil {
      isOutdated = before.spacing(in: before.phase, limits: limitsBefore) != spacing
    } else if let spacing {
      isOutdated = app.state.lastStart.map { request.earliest < $0 + spacing } ?? false
    } else {
      isOutdated = true
    }
    if isOutdated { dropRequest(of: id, &turn) }
  }
}
