// Learning from refreshes and openings, and the plan that follows.

extension Engine {
  /// The local time at an instant of the boot clock.
  func local(_ instant: Instant) -> LocalTime { zone.local(instant.microseconds + wallOffset.inMicroseconds) }

  /// Whether background refreshes of the app are planned: its file allows it, and has refreshes by time.
  func isPlanned(_ app: App) -> Bool {
    app.isPlanned && app.spacing(in: .background, limits: limits) != nil
  }

  /// Learns that the user has brought an app to the foreground, and plans anew: a met habit is not expected again.
  ///
  /// `begun` is when a desktop first showed the app in front, boot clock; nil for an opening by signal.
  mutating func learnOpening(of index: AppIndex, observedAt begun: Instant? = nil, _ turn: inout Turn) {
    let change = Opening.Change.began(isObserved: begun != nil)
    let id = apps.id(at: index)
    turn.decision.changes.history.openings.append(Opening(app: id, at: begun ?? turn.now, change: change))
    apps[index].isOpen = true
    guard apps[index].policy?.isAdaptive == true else { return }
    let moment = local(turn.now)
    var isFirst = false
    apps.learn(of: index) { isFirst = $0.opened(at: moment) }
    // Saved with the next refresh or at the stop: an opening alone is not worth a write of the learners.
    opened.insert(id)
    // A refresh that the opening asks for, or that is running, plans at its end.
    guard isFirst, apps[index].refreshing == nil, apps[index].state.request == nil else { return }
    plan(index, at: turn.now)
  }

  /// Learns from a refresh that has ended, and plans the next one.
  ///
  /// `freshBefore` is when the last sync before it began; nil if nobody knows whether that sync found new data.
  mutating func learn(from record: RefreshRecord, after freshBefore: Instant?, _ turn: inout Turn) {
    let id = record.app
    guard let index = apps.index(of: id), apps[index].policy?.isAdaptive == true else { return }
    let device = device.learnings
    let moment = local(record.startedAt)
    let isRun = record.trigger != .reported
    let seconds = record.startedAt.duration(to: record.endedAt).inSeconds
    let cpu = record.tasks.reduce(0) { $0 + $1.cpu.inSeconds }
    let bytes = record.bytes.map(Double.init)
    let isMetered = conditions.network.value?.metered.isMetered ?? false
    // In the foreground the interval decides, not the price.
    let isChosen = record.trigger.isDeferrable && record.trigger != .retry && record.trigger != .change
    let isCharged = apps[index].phase == .background && isChosen && isPlanned(apps[index])
    let lastSync = freshBefore.map { max($0, apps[index].newsAt ?? $0) }
    apps.learn(of: index) { learned in
      if isRun { learned.spent(duration: seconds, cpu: cpu, bytes: bytes, metered: isMetered) }
      // The price did not choose a refresh that the ceiling forced, or that a failure or a change asked for: such a refresh
      // is not charged.
      if isCharged, !learned.spending.isForced {
        learned.spending.today += Float(device.load(runSeconds: seconds, meteredBytes: isMetered ? bytes ?? 0 : 0))
      }
      // A refresh for a change on this machine tells nothing about its source. A failed task may have missed new data, so
      // that only new data of another task counts beside it.
      if record.outcome.isFresh || record.foundNew, record.trigger != .change, let lastSync {
        let gap = lastSync.duration(to: record.startedAt).inMinutes
        learned.synced(after: gap, at: moment, foundNew: record.foundNew, device)
      }
    }
    if record.foundNew, !record.outcome.isFresh { apps[index].newsAt = record.startedAt }
    turn.decision.changes.learned.insert(id)
    opened.remove(id)
    plan(index, at: turn.now)
  }

  /// Plans the next background refresh of an app between the end of its interval and its ceiling.
  ///
  /// The age of the data counts from the last start, even if that failed: a broken app costs no more than a working app.
  mutating func plan(_ index: AppIndex, at now: Instant) {
    let plan = currentPlan(index, at: now)
    let planned = plan.map { now + .microseconds(Int64($0.wait * 60e6)) }
    if let plan, apps.learned(of: index)?.spending.isForced != plan.isForced {
      apps.learn(of: index) { $0.spending.isForced = plan.isForced }
    }
    guard planned != apps[index].state.planned || apps[index].needsPlan else { return }
    apps[index].state.planned = planned
    apps[index].needsPlan = false
  }

  /// Makes a plan now; nil for an app that is not planned, or was never refreshed.
  func currentPlan(_ index: AppIndex, at now: Instant) -> Plan? {
    guard isPlanned(apps[index]), let policy = apps[index].policy, let lastStart = apps[index].state.lastStart,
      let learned = apps.learned(of: index),
      let spacing = apps[index].spacing(in: .background, limits: limits)
    else { return nil }
    return learned.plan(
      at: local(now), age: max(0, lastStart.duration(to: now).inMinutes),
      notBefore: max(0, now.duration(to: lastStart + spacing).inMinutes),
      ceiling: max(0, now.duration(to: lastStart + apps[index].maxStale).inMinutes), learningsInForce, policy.pins)
  }

  /// Forgets an app's learners, and the openings that desktops showed, which may belong to another app (`refreshctl usage
  /// APP --forget`).
  mutating func forget(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    apps.forget(index)
    turn.decision.changes.history.openingsForgotten[id] = true
    // The end of a forgotten opening would end an older opening.
    if !apps[index].isToldForeground { apps[index].isOpen = false }
    if isPlanned(apps[index]) { passNights(of: index, upTo: local(turn.now).day) }
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.learned.insert(id)
    turn.decision.changes.apps.insert(id)
  }
}

extension Policy {
  /// Whether the other policy may lead to another plan.
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

extension Engine {
  /// How many times dearer a refresh is while a power-saver profile is on.
  private static let saverFactor = 4.0

  /// The learnings of the machine, with the price in force.
  var learningsInForce: Learnings {
    var learnings = device.learnings
    if limits.powerSaver == .dearer, conditions.powerSaver.value == true { learnings.saverFactor = Self.saverFactor }
    return learnings
  }

  /// Ends the days of an app before `today`.
  mutating func passNights(of index: AppIndex, upTo today: Int) {
    let (device, policy) = (learningsInForce, apps[index].policy)
    let floor = apps[index].spacing(in: .background, limits: limits)?.inMinutes ?? Use.timeslotMinutes
    apps.learn(of: index) {
      $0.passNights(upTo: today, floor: floor, ceiling: policy?.maxStale?.inMinutes, device, policy?.pins ?? Pins())
    }
  }
}
