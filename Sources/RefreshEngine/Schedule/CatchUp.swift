// A backlog: many apps overdue at once, spread over minutes.

extension Engine {
  /// The mean distance between the apps of a backlog after a start of the daemon.
  static let catchUpSpacing = Duration.seconds(1)
  /// The longest time over which a backlog is spread.
  static let catchUpSpan = Duration.minutes(5)

  /// Spreads a backlog over a span that grows with its size.
  ///
  /// The backlog has the refreshes that were missed, cut short or never run, and those that a shorter interval makes
  /// overdue. Apps in the foreground do not wait, because the user looks at them.
  ///
  /// - Parameters:
  ///   - turn: the present turn, which notes the changed apps.
  ///   - isMissed: whether the machine or the daemon was off; false for a reload, which only shortens intervals.
  ///   - besides: the apps that were due before a reload, and stay as they are.
  ///   - byStaleness: whether the oldest data comes first, as after a resume. After a start the spread gives the order,
  ///     because the machine may be one of a fleet.
  mutating func catchUp(_ turn: inout Turn, isMissed: Bool = true, besides: Set<AppID> = [], byStaleness: Bool = false)
  {
    let now = turn.now
    let base = max(now, settlingUntil ?? now)
    var backlog = apps.indexes.filter { index in
      guard apps[index].refreshing == nil, apps[index].phase == .background, !besides.contains(apps.id(at: index))
      else {
        return false
      }
      let due = due(index, at: now)
      guard let due, due.window.earliest <= base else { return false }
      // A change has waited for its settling already, and few apps have one.
      return due.trigger.isDeferrable && due.trigger != .change
    }
    guard backlog.count > 1 else { return }
    let span = min(Self.catchUpSpan, Self.catchUpSpacing * (backlog.count - 1))
    backlogUntil = base + span
    if byStaleness { backlog.sort { isStaler($0, $1) } }
    for (place, index) in backlog.enumerated() {
      let id = apps.id(at: index)
      let isOverdue = apps[index].dueByTime(limits: limits, at: now).map { $0 <= now } ?? false
      let byTime: Trigger = apps[index].state.lastStart == nil || !isMissed ? .interval : .catchUp
      let trigger = isOverdue ? byTime : apps[index].state.request?.trigger ?? byTime
      let offset = byStaleness ? span * place / (backlog.count - 1) : spread.offset(of: id, within: span)
      apps[index].state.request = Request(trigger: trigger, earliest: base + offset)
      turn.touch(index)
      turn.decision.changes.apps.insert(id)
    }
  }

  /// The due apps, without apps whose files have mistakes: these form a backlog once the mistakes are corrected.
  ///
  /// By id, because a configuration with new apps changes the indexes.
  func overdueApps(at now: Instant) -> Set<AppID> {
    let overdue = apps.indexes.filter { index in
      guard let policy = apps[index].policy, policy.unusable == nil else { return false }
      return due(index, at: now).map { $0.window.earliest <= now } ?? false
    }
    return Set(overdue.map(apps.id))
  }

  private func isStaler(_ left: AppIndex, _ right: AppIndex) -> Bool {
    switch (apps[left].state.freshAt, apps[right].state.freshAt) {
    case (let left?, let right?) where left != right: left < right
    case (nil, .some): true
    case (.some, nil): false
    default: left < right
    }
  }
}
