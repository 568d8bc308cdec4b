// Configurations: the apps that exist, their policies, and the work that an earlier daemon left.

extension Engine {
  /// Puts a configuration in force: all apps at once.
  mutating func configure(_ limits: Limits, _ policies: [AppID: Policy], _ turn: inout Turn) {
    let limitsBefore = judge.limits
    let isFirst = !judge.life.isConfigured
    let overdue = isFirst ? [] : overdueApps(at: turn.now)
    judge.configure(limits)
    for index in apps.indexes {
      let policy = policies[apps.id(at: index)]
      if let started = apps[index].lost { adopt(index, started, by: policy, &turn) }
      if policy == nil { retire(index, &turn) }
    }
    judge.running.forgetSurvivors()
    judge.markConfigured(at: turn.now)
    if let moves = apps.add(policies.keys) {
      // Every app is touched below, which files it again.
      schedule = Schedule()
      planner.follow(moves)
    }
    var shared: Set<Boxed<Policy>> = []
    for (id, policy) in policies {
      guard let index = apps.index(of: id) else { continue }
      let before = apps[index].policy
      let spacing = apps[index].spacing(in: apps[index].phase, limits: limitsBefore)
      apps[index].configure(shared.insert(Boxed(policy)).memberAfterInsert)
      if let before { apps[index].questions.forgetAnswers(to: policy.constraints, unlike: before.constraints) }
      if let change = apps[index].requests.change, !policy.watch.contains(change.folder) {
        apps[index].requests.forgetChange()
      }
      let isNew = apps[index].timetable.seenAt == nil || before?.unusable != nil
      if isNew, apps[index].visits.isOwnerPresent == nil, limits.followsSessions(policy) {
        // Until the sessions say that its owner is there.
        apps[index].visits.awaitOwner()
        turn.decision.changes.apps.insert(id)
      }
      if let before, before.isPlannedUnlike(policy) { apps[index].timetable.requirePlan() }
      if apps[index].timetable.see(at: turn.now) { turn.decision.changes.apps.insert(id) }
      dropOutdated(index, wasConfigured: before != nil, spacingBefore: spacing, &turn)
    }
    eraseOutdated(&turn)
    inheritKeptUnits(&turn)
    planner.replan(after: limitsBefore, apps, judge, &turn)
    catchUp(&turn, isMissed: isFirst, besides: overdue)
    transfers.resume(isFirst: isFirst, judge, apps, &turn)
    requestDeliveries(at: turn.now)
    if isFirst { tidyPushes(&turn) }
    schedule.considerAll()
    turn.touched.insert(apps.indexes)
  }

  /// Retires an app that no file names: ends its work, and keeps its state until the file returns.
  private mutating func retire(_ index: AppIndex, _ turn: inout Turn) {
    stop(index, .unconfigured, &turn)
    apps[index].configure(nil)
    apps[index].visits.retire()
    apps[index].questions.clear()
    apps[index].requests.forgetChange()
    dropRequest(of: index, &turn)
  }

  /// Has a guard return a unit that a guard with another id left stopped or frozen, because the app's id changed.
  private mutating func inheritKeptUnits(_ turn: inout Turn) {
    for index in apps.indexes {
      guard let left = apps[index].guarding.keptUnit, apps[index].guarding.keeper == nil, apps[index].policy == nil,
        let successor = apps.indexes.first(where: { apps[$0].mayInherit(left) })
      else { continue }
      setKept(nil, index, &turn)
      setKept(left, successor, &turn)
    }
  }
}

// Erases apps that have left the configuration: at a user's request, or after 90 days.

extension AppState {
  /// How long an app stays known after it has left the configuration.
  private static let retention = Duration.hours(24 * 90)

  /// Whether the app has been out of the configuration for 90 days (boot clock), and nothing of it runs.
  public func isOutdated(at now: Instant) -> Bool {
    guard running == nil, let waiting, waiting.holds.contains(.notConfigured) else { return false }
    return waiting.since + Self.retention <= now
  }
}

extension Engine {
  /// Erases the apps that left the configuration 90 days ago; called each night and at each reload.
  mutating func eraseOutdated(_ turn: inout Turn) {
    for index in apps.indexes where apps[index].policy == nil && apps[index].saved.isOutdated(at: turn.now) {
      erase(apps.id(at: index), &turn)
    }
  }

  /// Whether an app may be erased: it is known, no file names it, and neither a refresh nor a transfer of it is open.
  public func mayErase(_ id: AppID) -> Bool {
    guard let index = apps.index(of: id), apps[index].policy == nil, apps[index].refreshing == nil else { return false }
    return apps[index].timetable.seenAt != nil && !transfers.queue.hasOpen(of: id)
  }

  /// Erases everything about an app that has left the configuration, with its undelivered pushes and sessions.
  ///
  /// A second such event deletes its ended transfers, once the disk has erased the app. Until then the app can still get
  /// them, if the first event is taken back.
  mutating func erase(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    if apps[index].policy == nil, apps[index].timetable.seenAt == nil { return forgetEnded(of: index, &turn) }
    guard mayErase(id) else { return }
    apps[index].mailbox.forgetPushes(&turn)
    apps[index].restore(AppState())
    planner.erase(id, at: index)
    turn.touch(index)
    turn.decision.changes.erase(id)
  }

  private mutating func forgetEnded(of index: AppIndex, _ turn: inout Turn) {
    let id = apps.id(at: index)
    apps[index].mailbox.forgetSessions()
    transfers.forgetEnded(of: id, &turn)
  }
}

// A backlog: many apps overdue at once, spread over minutes.

extension Engine {
  /// The mean distance between the apps of a backlog after a start of the daemon.
  private static let catchUpSpacing = Duration.seconds(1)
  /// The longest time over which a backlog is spread.
  static let catchUpSpan = Duration.minutes(5)

  /// Spreads a backlog over a span that grows with its size.
  ///
  /// The backlog has the refreshes that were missed, cut short or never run, and those that a shorter interval makes
  /// overdue. Apps in the foreground do not wait, because the user looks at them.
  ///
  /// - Parameters:
  ///   - turn: the present turn, which collects the changed apps.
  ///   - isMissed: whether the machine or the daemon was off; false for a reload, which only shortens intervals.
  ///   - besides: the apps that were due before a reload, and stay as they are.
  ///   - byStaleness: whether the oldest data comes first, as after a resume. After a start the spread gives the order,
  ///     because the machine may be one of a fleet.
  mutating func catchUp(_ turn: inout Turn, isMissed: Bool = true, besides: Set<AppID> = [], byStaleness: Bool = false)
  {
    let now = turn.now
    let base = max(now, judge.settlingUntil ?? now)
    var backlog = apps.indexes.filter { index in
      guard apps[index].refreshing == nil, apps[index].phase == .background, !besides.contains(apps.id(at: index))
      else {
        return false
      }
      let due = judge.due(of: apps[index], at: now)
      guard let due, due.window.earliest <= base else { return false }
      // A change has waited for its settling already, and few apps have one.
      return due.trigger.isDeferrable && due.trigger != .change
    }
    guard backlog.count > 1 else { return }
    let span = min(Self.catchUpSpan, Self.catchUpSpacing * (backlog.count - 1))
    judge.awaitBacklog(until: base + span)
    if byStaleness { backlog.sort { isStaler($0, $1) } }
    for (place, index) in backlog.enumerated() {
      let id = apps.id(at: index)
      let isOverdue = apps[index].dueByTime(limits: judge.limits, at: now).map { $0 <= now } ?? false
      let byTime: Trigger = apps[index].timetable.lastStart == nil || !isMissed ? .interval : .catchUp
      let trigger = isOverdue ? byTime : apps[index].requests.pending?.trigger ?? byTime
      let offset = byStaleness ? span * place / (backlog.count - 1) : judge.spread.offset(of: id, within: span)
      apps[index].requests.replace(by: Request(trigger: trigger, earliest: base + offset))
      turn.touch(index)
      turn.decision.changes.apps.insert(id)
    }
  }

  /// The due apps, without apps whose files have mistakes: these form a backlog once the mistakes are corrected.
  ///
  /// By id, because a configuration with new apps changes the indexes.
  private func overdueApps(at now: Instant) -> Set<AppID> {
    let overdue = apps.indexes.filter { index in
      guard let policy = apps[index].policy, policy.unusable == nil else { return false }
      return judge.due(of: apps[index], at: now).map { $0.window.earliest <= now } ?? false
    }
    return Set(overdue.map(apps.id))
  }

  private func isStaler(_ left: AppIndex, _ right: AppIndex) -> Bool {
    switch (apps[left].timetable.freshAt, apps[right].timetable.freshAt) {
    case (let left?, let right?) where left != right: left < right
    case (nil, .some): true
    case (.some, nil): false
    default: left < right
    }
  }
}
