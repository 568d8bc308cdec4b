// Which apps there are, with what intervals, and what a start of the daemon owes them.

extension Engine {
  /// How far apart the apps of a backlog are, on average, when the daemon starts.
  static let catchUpSpacing = Duration.seconds(1)
  /// Over how much time a backlog is spread at most (DESIGN section 4: minutes, not one stampede).
  static let catchUpSpan = Duration.minutes(5)

  /// Puts a configuration in force: all apps at once.
  mutating func configure(_ limits: Limits, _ policies: [AppID: Policy], _ turn: inout Turn) {
    let limitsBefore = self.limits
    self.limits = limits
    for id in apps.ids {
      if let started = apps[id]?.lost { takeOver(id, started, by: policies[id], &turn) }
      if policies[id] == nil { retire(id, &turn) }
    }
    survivors = [:]
    let isFirst = !isConfigured
    isConfigured = true
    if apps.add(policies.keys) { forgetPlaces() }
    var shared: [Policy: SharedPolicy] = [:]
    for (id, policy) in policies {
      let before = apps[id] ?? App()
      var app = before
      app.shared = shared[policy] ?? SharedPolicy(policy)
      shared[policy] = app.shared
      app.needsPlan = app.needsPlan || before.policy.map { $0.isPlannedUnlike(policy) } ?? false
      if app.state.seenAt == nil {
        app.state.seenAt = turn.now
        turn.decision.changed.insert(id)
      }
      apps[id] = app
      dropOutdated(id, before: before, limitsBefore, &turn)
    }
    replan(after: limitsBefore, &turn)
    catchUp(&turn)
    takeUpTransfers(isFirst: isFirst, &turn)
    if isFirst { takeUpPushes(&turn) }
    queue.openAll()
    turn.touched.insert(apps.allPlaces)
  }

  /// Sets an app's intervals in place of its file's.
  mutating func override(_ id: AppID, _ overrides: Overrides, _ turn: inout Turn) {
    guard let before = apps[id], before.state.overrides != overrides else { return }
    apps[id]?.state.overrides = overrides
    dropOutdated(id, before: before, limits, &turn)
    plansAny = plansAny || apps[id].map(isPlanned) ?? false
    setNight(at: turn.now)
    plan(id, at: turn.now)
    touch(id, &turn)
    turn.decision.changed.insert(id)
  }

  /// Asks for a refresh, now or after the one that is running.
  ///
  /// An app that is off is not asked.
  mutating func request(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, !app.isOff else { return }
    apps[id]?.ask(trigger, at: turn.now)
    touch(id, &turn)
    turn.decision.changed.insert(id)
  }

  /// No file names the app: what runs of it ends, what is known of it is kept for the file's return.
  private mutating func retire(_ id: AppID, _ turn: inout Turn) {
    stop(id, .user, &turn)
    apps[id]?.shared = nil
    dropRequest(of: id, &turn)
  }

  /// Forgets the instant that an interval asked for which is no longer the one in force; the new one gives its own.
  ///
  /// After a start of the daemon nobody knows what the interval was. An instant that it does not forbid now, such as
  /// the place of an app in a backlog, stays.
  private mutating func dropOutdated(_ id: AppID, before: App, _ limitsBefore: Limits, _ turn: inout Turn) {
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

  private mutating func dropRequest(of id: AppID, _ turn: inout Turn) {
    guard apps[id]?.state.request != nil else { return }
    apps[id]?.state.request = nil
    turn.decision.changed.insert(id)
  }

  /// Spreads what is overdue all at once over a span that grows with its number: what was missed or cut short while
  /// the daemon was off, what was never run, what a shorter interval makes overdue.
  ///
  /// The user looks at the apps in the foreground: they do not wait.
  ///
  /// - Parameter byStaleness: whether the places are given by the age of the data, oldest first, and not by the spread:
  ///   after a resume the machine is alone with its backlog, after a start it may be one of a fleet.
  mutating func catchUp(_ turn: inout Turn, byStaleness: Bool = false) {
    let now = turn.now
    let base = max(now, settlingUntil ?? now)
    var backlog = apps.ids.filter { id in
      guard let app = apps[id], app.refreshing == nil, app.phase == .background else { return false }
      let due = due(app, id, at: now)
      guard let due, due.earliest <= base else { return false }
      return due.trigger.isDeferrable
    }
    guard backlog.count > 1 else { return }
    let span = min(Self.catchUpSpan, Self.catchUpSpacing * (backlog.count - 1))
    backlogUntil = base + span
    if byStaleness { backlog.sort { isStaler($0, $1) } }
    for (place, id) in backlog.enumerated() {
      guard let app = apps[id] else { continue }
      let isOverdue = app.dueByTime(limits: limits, at: now).map { $0 <= now } ?? false
      let byTime: Trigger = app.state.lastStart == nil ? .interval : .catchUp
      let trigger = isOverdue ? byTime : app.state.request?.trigger ?? byTime
      let offset = byStaleness ? span * place / (backlog.count - 1) : spread.offset(of: id, within: span)
      apps[id]?.state.request = Request(trigger: trigger, earliest: base + offset)
      touch(id, &turn)
      turn.decision.changed.insert(id)
    }
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
