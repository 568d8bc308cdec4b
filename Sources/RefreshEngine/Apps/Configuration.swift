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
    for index in apps.indexes {
      let policy = policies[apps.id(at: index)]
      if let started = apps[index].lost { adopt(index, started, by: policy, &turn) }
      if policy == nil { retire(index, &turn) }
    }
    survivors = [:]
    configuredAt = configuredAt ?? turn.now
    if apps.add(policies.keys) { forgetIndexes() }
    var shared: Set<Boxed<Policy>> = []
    for (id, policy) in policies {
      guard let index = apps.index(of: id) else { continue }
      let before = apps[index].policy
      let spacing = apps[index].spacing(in: apps[index].phase, limits: limitsBefore)
      apps[index].sharedPolicy = shared.insert(Boxed(policy)).memberAfterInsert
      apps[index].forgetAnswers(unlike: before)
      if let change = apps[index].change, !policy.watch.contains(change.folder) { apps[index].change = nil }
      let isNew = apps[index].state.seenAt == nil || before?.unusable != nil
      if isNew, apps[index].state.isOwnerPresent == nil, limits.followsSessions(policy) {
        // Until the sessions say that its owner is there.
        apps[index].state.isLoggedOut = true
        turn.decision.changes.apps.insert(id)
      }
      if let before, before.isPlannedUnlike(policy) { apps[index].needsPlan = true }
      if apps[index].state.seenAt == nil {
        apps[index].state.seenAt = turn.now
        turn.decision.changes.apps.insert(id)
      }
      apps.share(id)
      dropOutdated(index, wasConfigured: before != nil, spacingBefore: spacing, &turn)
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
  private mutating func retire(_ index: AppIndex, _ turn: inout Turn) {
    stop(index, .unconfigured, &turn)
    apps[index].sharedPolicy = nil
    apps[index].presence = .unknown
    apps[index].openedAt = nil
    apps[index].questions = [:]
    apps[index].change = nil
    dropRequest(of: index, &turn)
  }
}
