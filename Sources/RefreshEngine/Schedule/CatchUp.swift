// A backlog: many apps overdue at once, spread over minutes.

extension Engine {
  /// How far apart the apps of a backlog are, on average, when the daemon starts.
  static let catchUpSpacing = Duration.seconds(1)
  /// The longest time over which a backlog is spread.
  static let catchUpSpan = Duration.minutes(5)

  /// Spreads what is overdue all at once over a span that grows with its number: what was missed or cut short while
  /// the daemon was off, what was never run, what a shorter interval makes overdue.
  ///
  /// The user looks at the apps in the foreground: they do not wait.
  ///
  /// - Parameters:
  ///   - isMissed: whether the machine or the daemon was off: a reload only makes an interval shorter.
  ///   - besides: the apps that were due before a reload: they go on waiting as they did.
  ///   - byStaleness: whether the age of the data gives the order, oldest first, and not the spread: after a resume the
  ///     machine is alone with its backlog, after a start it may be one of a fleet.
  mutating func catchUp(_ turn: inout Turn, isMissed: Bool = true, besides: Set<AppID> = [], byStaleness: Bool = false)
  {
    let now = turn.now
    let base = max(now, settlingUntil ?? now)
    var backlog = apps.ids.filter { id in
      guard let app = apps[id], app.refreshing == nil, app.phase == .background, !besides.contains(id) else {
        return false
      }
      let due = due(app, id, at: now)
      guard let due, due.earliest <= base else { return false }
      // A change has settled for a while already, and few apps have one.
      return due.trigger.isDeferrable && due.trigger != .change
    }
    guard backlog.count > 1 else { return }
    let span = min(Self.catchUpSpan, Self.catchUpSpacing * (backlog.count - 1))
    backlogUntil = base + span
    if byStaleness { backlog.sort { isStaler($0, $1) } }
    for (index, id) in backlog.enumerated() {
      guard let app = apps[id] else { continue }
      let isOverdue = app.dueByTime(limits: limits, at: now).map { $0 <= now } ?? false
      let byTime: Trigger = app.state.lastStart == nil || !isMissed ? .interval : .catchUp
      let trigger = isOverdue ? byTime : app.state.request?.trigger ?? byTime
      let offset = byStaleness ? span * index / (backlog.count - 1) : spread.offset(of: id, within: span)
      apps[id]?.state.request = Request(trigger: trigger, earliest: base + offset)
      touch(id, &turn)
      turn.decision.changed.insert(id)
    }
  }

  /// The apps that are due, without those whose files have mistakes: once mended, these are a backlog.
  func overdueApps(at now: Instant) -> Set<AppID> {
    Set(
      apps.ids.filter { id in
        guard let app = apps[id], let policy = app.policy, policy.unusable == nil else { return false }
        return due(app, id, at: now).map { $0.earliest <= now } ?? false
      })
  }

  private func isStaler(_ left: AppID, _ right: AppID) -> Bool {
    switch (apps[left]?.state.freshAt, apps[right]?.state.freshAt) {
    case (let left?, let right?) where left != right: left < right
    case (nil, .some): true
    case (.some, nil): false
    default: left < right
    }
  }
}
