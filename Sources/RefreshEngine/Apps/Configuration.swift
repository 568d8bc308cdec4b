// A configuration in force: the apps that exist, their policies, and the work that a start of the daemon leaves.

extension Engine {
  /// Whether a configuration is in force.
  var isConfigured: Bool { configuredAt != nil }

  /// Puts a configuration in force: all apps at once.
  mutating func configure(_ limits: Limits, _ policies: [AppID: Policy], _ turn: inout Turn) {
    let limitsBefore = self.limits
    let isFirst = !isConfigured
    let overdue = isFirst ? [] : overdueApps(at: turn.now)
    self.limits = limits
    for id in apps.ids {
      if let started = apps[id]?.lost { adopt(id, started, by: policies[id], &turn) }
      if policies[id] == nil { retire(id, &turn) }
    }
    survivors = [:]
    configuredAt = configuredAt ?? turn.now
    if apps.add(policies.keys) { forgetIndexes() }
    var shared: Set<Boxed<Policy>> = []
    for (id, policy) in policies {
      let before = apps[id] ?? App()
      var app = before
      app.sharedPolicy = shared.insert(Boxed(policy)).memberAfterInsert
      forgetAnswers(of: &app, before: before)
      if let change = app.change, !policy.watch.contains(change.folder) { app.change = nil }
      let isNew = app.state.seenAt == nil || before.policy?.unusable != nil
      if isNew, app.state.isOwnerPresent == nil, limits.followsSessions(policy) {
        // Until the sessions say that its owner is there.
        app.state.isLoggedOut = true
        turn.decision.changes.apps.insert(id)
      }
      app.needsPlan = app.needsPlan || before.policy.map { $0.isPlannedUnlike(policy) } ?? false
      if app.state.seenAt == nil {
        app.state.seenAt = turn.now
        turn.decision.changes.apps.insert(id)
      }
      apps[id] = app
      apps.share(id)
      dropOutdated(id, before: before, limitsBefore, &turn)
    }
    eraseOutdated(&turn)
    inheritKeptUnits(&turn)
    replan(after: limitsBefore, &turn)
    catchUp(&turn, isMissed: isFirst, besides: overdue)
    resumeTransfers(isFirst: isFirst, &turn)
    if isFirst { tidyPushes(&turn) }
    queue.openAll()
    turn.touched.insert(apps.indexes)
  }

  /// Retires an app that no file names: ends its work, and keeps its state until the file returns.
  private mutating func retire(_ id: AppID, _ turn: inout Turn) {
    stop(id, .unconfigured, &turn)
    apps[id]?.sharedPolicy = nil
    apps[id]?.presence = .unknown
    apps[id]?.openedAt = nil
    apps[id]?.questions = [:]
    apps[id]?.change = nil
    dropRequest(of: id, &turn)
  }
}
