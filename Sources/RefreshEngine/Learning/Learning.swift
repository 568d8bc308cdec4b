// Learning from refreshes and openings, and the plan that follows.

extension Engine {
  /// The clock on the wall at an instant of the boot clock.
  func local(_ instant: Instant) -> LocalTime { zone.local(instant.microseconds + wallOffset.inMicroseconds) }

  /// Whether background refreshes of the app are planned: its file lets them, and there are any by time.
  func isPlanned(_ app: App) -> Bool {
    app.policy?.isAdaptive == true && app.spacing(in: .background, limits: limits) != nil
  }

  /// Learns that the user has brought an app to the foreground.
  mutating func learnOpening(of id: AppID, _ turn: inout Turn) {
    turn.decision.opened.append(id)
    guard apps[id]?.policy?.isAdaptive == true else { return }
    let moment = local(turn.now)
    apps.learn(of: id) { $0.opened(at: moment) }
    // Saved with the next refresh or at the stop: an opening alone is not worth a write of all that is learnt.
    opened.insert(id)
  }

  /// Learns from a refresh that has ended, and plans the next one.
  ///
  /// - Parameter freshBefore: when the last sync before it began; nil when nobody knows whether it found anything new.
  mutating func learn(from record: RefreshRecord, after freshBefore: Instant?, _ turn: inout Turn) {
    let id = record.app
    guard let app = apps[id], app.policy?.isAdaptive == true else { return }
    let device = device.learnings
    let moment = local(record.startedAt)
    let seconds = record.startedAt.duration(to: record.endedAt).inSeconds
    let cpu = record.tasks.reduce(0) { $0 + $1.cpu.inSeconds }
    let bytes = record.bytes.map(Double.init)
    let isMetered = conditions.network.value?.metered.isMetered ?? false
    let isBudgeted = record.trigger.isDeferrable && isPlanned(app)
    apps.learn(of: id) { learned in
      learned.spent(duration: seconds, cpu: cpu, bytes: bytes, metered: isMetered)
      if record.outcome.isFresh, let freshBefore {
        let gap = freshBefore.duration(to: record.startedAt).inMinutes
        learned.synced(after: gap, at: moment, foundNew: record.outcome == .newData, device)
      }
    }
    if isBudgeted {
      self.device.learnings.refreshed(runSeconds: seconds, meteredBytes: isMetered ? bytes ?? 0 : 0)
    }
    turn.decision.deviceLearned = turn.decision.deviceLearned || isBudgeted
    turn.decision.learned.insert(id)
    opened.remove(id)
    plan(id, at: turn.now)
  }

  /// Plans the next background refresh of an app between its floor and its ceiling.
  ///
  /// The age of the data counts from the last start also if that failed: an app that is broken costs no more than one
  /// that is whole.
  mutating func plan(_ id: AppID, at now: Instant) {
    guard let app = apps[id] else { return }
    let planned = instantOfPlan(app, id, at: now)
    guard planned != app.state.planned || app.needsPlan else { return }
    apps[id]?.state.planned = planned
    apps[id]?.needsPlan = false
  }

  private func instantOfPlan(_ app: App, _ id: AppID, at now: Instant) -> Instant? {
    guard let plan = currentPlan(app, id, at: now) else { return nil }
    return now + .microseconds(Int64(plan.wait * 60e6))
  }

  /// A plan made now; nil for an app that is not planned, or was never refreshed.
  func currentPlan(_ app: App, _ id: AppID, at now: Instant) -> Plan? {
    guard isPlanned(app), let policy = app.policy, let lastStart = app.state.lastStart,
      let learned = apps.learned(of: id),
      let spacing = app.spacing(in: .background, limits: limits)
    else { return nil }
    return learned.plan(
      at: local(now), age: max(0, lastStart.duration(to: now).inMinutes),
      notBefore: max(0, now.duration(to: lastStart + spacing).inMinutes),
      ceiling: max(0, now.duration(to: lastStart + app.maxStale).inMinutes), learningsInForce, policy.pins)
  }

  /// Forgets what was learnt of an app (`refreshctl usage APP --forget`).
  mutating func forget(_ id: AppID, _ turn: inout Turn) {
    guard let app = apps[id] else { return }
    apps.forget(id)
    if isPlanned(app) {
      let (device, today, pins) = (learningsInForce, local(turn.now).day, app.policy?.pins ?? Pins())
      apps.learn(of: id) { $0.passNights(upTo: today, device, pins) }
    }
    plan(id, at: turn.now)
    touch(id, &turn)
    turn.decision.learned.insert(id)
    turn.decision.changed.insert(id)
  }
}

extension Policy {
  /// Whether a plan made under the other policy may be another one.
  func isPlannedUnlike(_ other: Policy) -> Bool {
    isAdaptive != other.isAdaptive || pins != other.pins || maxStale != other.maxStale
      || backgroundInterval != other.backgroundInterval
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double { Double(inMicroseconds) / 1e6 }
  /// The duration in minutes.
  var inMinutes: Double { Double(inMicroseconds) / 60e6 }
}
