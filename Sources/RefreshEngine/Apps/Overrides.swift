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
    guard let index = apps.index(of: id), apps[index].state.overrides != overrides else { return }
    let isConfigured = apps[index].policy != nil
    let spacing = apps[index].spacing(in: apps[index].phase, limits: limits)
    apps[index].state.overrides = overrides
    dropOutdated(index, wasConfigured: isConfigured, spacingBefore: spacing, &turn)
    plansAny = plansAny || isPlanned(apps[index])
    setNight(at: turn.now)
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Drops the request of an interval that is no longer in force; the new interval makes its own.
  ///
  /// After a start of the daemon the earlier interval is unknown. Then a request stays if the present interval allows it,
  /// such as the request of an app in a backlog.
  mutating func dropOutdated(
    _ index: AppIndex, wasConfigured: Bool, spacingBefore: Duration?, _ turn: inout Turn
  ) {
    guard let request = apps[index].state.request, request.trigger.isByTime else { return }
    let spacing = apps[index].spacing(in: apps[index].phase, limits: limits)
    let isOutdated: Bool
    if wasConfigured {
      isOutdated = spacingBefore != spacing
    } else if let spacing {
      isOutdated = apps[index].state.lastStart.map { request.earliest < $0 + spacing } ?? false
    } else {
      isOutdated = true
    }
    if isOutdated { dropRequest(of: index, &turn) }
  }
}
