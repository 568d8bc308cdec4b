// Which apps there are, with what intervals, and what a start of the daemon owes them.

extension Engine {
  /// How far apart the apps of a backlog are, on average, when the daemon starts.
  static let catchUpSpacing = Duration.seconds(1)
  /// Over how much time a backlog is spread at most (DESIGN section 4: minutes, not one stampede).
  static let catchUpSpan = Duration.minutes(5)

  /// Puts a configuration in force: all apps at once.
  mutating func configure(_ limits: Limits, _ policies: [AppID: Policy], _ turn: inout Turn) {
    self.limits = limits
    var arrived: [AppID] = []
    for id in apps.keys.sorted() {
      if case .lost(let started)? = apps[id]?.activity { settleLost(id, started, &turn) }
      if policies[id] == nil, apps[id]?.policy != nil { retire(id, &turn) }
    }
    for (id, policy) in policies {
      if apps[id]?.policy == nil { arrived.append(id) }
      apps[id, default: App()].policy = policy
    }
    catchUp(arrived.sorted(), &turn)
    turn.touched.formUnion(apps.keys)
  }

  /// Sets an app's intervals in place of its file's.
  mutating func override(_ id: AppID, _ overrides: Overrides, _ turn: inout Turn) {
    guard let app = apps[id], app.overrides != overrides else { return }
    apps[id]?.overrides = overrides
    turn.touched.insert(id)
    turn.decision.changed.insert(id)
  }

  /// Asks for a refresh, now or after the one that is running.
  ///
  /// A logged-out app is not asked.
  mutating func request(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, !app.isLoggedOut else { return }
    apps[id]?.ask(trigger, at: turn.now)
    turn.touched.insert(id)
    turn.decision.changed.insert(id)
  }

  /// No file names the app any more: what runs of it ends, what is known of it is kept for the file's return.
  private mutating func retire(_ id: AppID, _ turn: inout Turn) {
    stop(id, .user, &turn)
    apps[id]?.policy = nil
    if apps[id]?.request != nil {
      apps[id]?.request = nil
      turn.decision.changed.insert(id)
    }
  }

  /// Spreads what was missed, and what was never run, over a span that grows with its number.
  ///
  /// An instant in the future cannot be (FEATURES A11: the clock was set back): the store has made it now.
  private mutating func catchUp(_ arrived: [AppID], _ turn: inout Turn) {
    let overdue = arrived.filter { id in
      guard let app = apps[id], app.request == nil, app.phase == .background else { return false }
      guard let due = app.due(limits: limits, at: turn.now) else { return false }
      return due.earliest <= turn.now
    }
    guard overdue.count > 1 else { return }
    let span = min(Self.catchUpSpan, Self.catchUpSpacing * (overdue.count - 1))
    for id in overdue {
      let trigger: Trigger = apps[id]?.lastStart == nil ? .interval : .catchUp
      apps[id]?.request = Request(trigger: trigger, earliest: turn.now + spread.offset(of: id, within: span))
      turn.decision.changed.insert(id)
    }
  }
}
