import RefreshEngine

/// The changes of the book when an event comes and when a refresh ends.
extension Bystander {
  mutating func hear(_ event: Event, at now: Instant) {
    switch event {
    case .configured(let limits, let policies):
      startedAt = startedAt ?? now
      configure(limits, policies, at: now)
    case .signalled(let id, let signal): hear(signal, of: id)
    case .leased(let lease, let id, let signal):
      guard apps[id]?.policy != nil else { return }
      apps[id]?.leases[lease] = signal
      apps[id]?.isTerminated = false
      if signal == .foreground { apps[id]?.isPhaseReported = true }
    case .leaseEnded(let lease, let id): apps[id]?.leases[lease] = nil
    case .shown(let id, let presence): hear(presence, of: id)
    case .overridden(let id, let overrides): apps[id]?.overrides = overrides
    case .requested(let id, let trigger):
      guard let app = apps[id], app.policy != nil, !app.isOff else { return }
      apps[id]?.mayRetryAtOnce = true
      if trigger == .manual { apps[id]?.isAskedByHand = true }
      // A retry waits for its back-off, which the running refresh may lengthen.
      if app.run != nil, trigger != .retry { apps[id]?.isAsked = true }
    case .forced(let id): hear(.requested(id, .manual), at: now)
    // Sessions come and go in the simulation of the daemon.
    case .awaited, .keeperReported, .keeperEnded, .ownerPresent: break
    case .disabled(let id, let isDisabled):
      guard apps[id]?.policy != nil else { return }
      apps[id]?.isDisabled = isDisabled
      if isDisabled { forgetAsked(id) }
      if isDisabled { apps[id]?.oneShot = nil }
    case .scheduled(let id, let oneShot):
      guard let app = apps[id], app.policy != nil, !app.isOff else { return }
      apps[id]?.oneShot = oneShot
    case .skipped(let id):
      guard let app = apps[id], let spacing = app.spacing(limits) else { return }
      if let until = app.skippedUntil, until - spacing > now { return }
      apps[id]?.skippedUntil = max(now, app.dueByTime(limits, at: now) ?? now) + spacing
    // Random users skip one refresh only; the tests of the engine skip for a time.
    case .skippedAll: break
    case .paused(let pause):
      let isOnMains = conditions.power.value?.onBattery == false
      self.pause = pause == .untilAC && isOnMains ? nil : pause
    case .observed(let observation):
      hear(observation)
      regain(at: now)
    case .answered(let run, let state):
      guard let constraint = run.constraint, apps[run.app]?.questions[constraint] == run.id else { return }
      apps[run.app]?.questions[constraint] = nil
      apps[run.app]?.answers[constraint] = (state.isMet, now)
      apps[run.app]?.keepsAnswers = false
    case .withdrawn(let run):
      guard let constraint = run.constraint, apps[run.app]?.questions[constraint] == run.id else { return }
      apps[run.app]?.questions[constraint] = nil
    case .resumed:
      resumedAt = now
      isSuspending = false
      // A refresh that was asked to end gets no more time.
      for (id, app) in apps where app.run?.stopReason == nil { apps[id]?.run?.sleep = nil }
    case .suspending(let end): suspend(until: end, at: now)
    case .synced(let id, _):
      guard apps[id]?.policy != nil else { return }
      apps[id]?.lastStart = now
      apps[id]?.grid = now
      apps[id]?.countsFromEntry = false
      apps[id]?.retryFrom = nil
      apps[id]?.mayRetryAtOnce = false
      apps[id]?.change = nil
      apps[id]?.refusedUntil = nil
      apps[id]?.expectOwnWrites(at: now)
    case .changed(let id, _): apps[id]?.hear(event, of: id, at: now)
    case .attached(let id):
      apps[id]?.isAttached = true
      apps[id]?.wasAttached = true
    case .detached(let id):
      apps[id]?.isAttached = false
      if !isStopping { apps[id]?.wasAttached = false }
    case .survived(let refresh, let tasks): survivors[refresh] = tasks
    case .zoneChanged(let zone): self.zone = zone
    case .clockStepped(let offset): step(to: offset, at: now)
    case .stopped: isStopping = true
    case .completed(let refresh, let task, let outcome, _): hear(outcome, from: task, refresh)
    case .taskEnded(let refresh, let task, let end): hear(end, of: task, refresh)
    case .began(let refresh): begin(refresh, at: now)
    case .retryAfter(let refresh, let wait):
      guard let id = app(of: refresh) else { return }
      let longest = max(apps[id]?.run?.retryAfter ?? .zero, wait)
      apps[id]?.run?.retryAfter = longest
    case .wokeUp, .forgotten, .erased, .freshFor, .expired: break
    case .pushed: break
    case .several(let events): for event in events { hear(event, at: now) }
    case .enqueued, .transferPaused, .transferCancelled, .transferPrioritized, .transferReported, .transferFetched,
      .transferMoved, .roomFound, .restored:
      break
    }
  }

  private mutating func configure(_ limits: Limits, _ policies: [AppID: Policy], at now: Instant) {
    self.limits = limits
    for id in policies.keys where apps[id] == nil { apps[id] = App() }
    for id in apps.keys {
      forgetAnswers(of: id, before: policies[id])
      apps[id]?.policy = policies[id]
      if policies[id]?.watch.isEmpty != false { apps[id]?.change = nil }
      if policies[id] == nil {
        forgetAsked(id)
        apps[id]?.presence = .unknown
      } else if apps[id]?.seenAt == nil {
        apps[id]?.seenAt = now
      }
    }
    for (id, run) in lost {
      guard let policy = policies[id] else { continue }
      let there = (survivors[run.id] ?? []).filter { policy.tasks.indices.contains($0) }
      if !there.isEmpty { apps[id]?.run = Run(run, of: id, policy, survivors: there, at: now) }
    }
    (lost, survivors) = ([:], [:])
  }

  /// Drops the answers of commands that the new file does not ask.
  private mutating func forgetAnswers(of id: AppID, before next: Policy?) {
    guard let old = apps[id]?.policy?.constraints, let new = next?.constraints else { return }
    for constraint in [Constraint.reachable, .when] where old.name(of: constraint) != new.name(of: constraint) {
      apps[id]?.questions[constraint] = nil
      apps[id]?.answers[constraint] = nil
    }
  }

  /// Gives a running refresh half of the remaining time to end by itself, and at most its grace to end when asked.
  private mutating func suspend(until end: Instant, at now: Instant) {
    isSuspending = true
    for id in apps.keys {
      guard let grace = apps[id]?.run?.grace else { continue }
      let half = Duration.microseconds(now.duration(to: end).inMicroseconds / 2)
      apps[id]?.run?.sleep = (stop: end - min(grace, half), kill: end)
    }
  }

  /// The user's desktops have seen the app start, come to the front, or end.
  private mutating func hear(_ presence: Presence, of id: AppID) {
    guard let app = apps[id], let policy = app.policy else { return }
    let (ran, runs) = (app.presence >= .running, presence >= .running)
    apps[id]?.presence = presence
    if runs, !ran { apps[id]?.isTerminated = false }
    if presence == .ended && ran || runs && app.presence == .ended { apps[id]?.isPhaseReported = false }
    if presence == .ended, ran, policy.isTerminatedOnExit { apps[id]?.isTerminated = true }
  }

  private mutating func hear(_ signal: Signal, of id: AppID) {
    guard apps[id]?.policy != nil else { return }
    if [.foreground, .background, .terminated].contains(signal) { apps[id]?.isPhaseReported = true }
    switch signal {
    case .launched: apps[id]?.isTerminated = false
    case .foreground:
      apps[id]?.isForeground = true
      apps[id]?.isTerminated = false
    case .background: apps[id]?.isForeground = false
    case .terminated:
      apps[id]?.isForeground = false
      apps[id]?.isTerminated = true
    case .login: apps[id]?.isLoggedOut = false
    case .logout:
      apps[id]?.isLoggedOut = true
      forgetAsked(id)
    }
  }

  private mutating func hear(_ observation: RefreshEngine.Observation) {
    switch observation {
    case .network(let reading): conditions.network = reading
    case .power(let reading):
      conditions.power = reading
      if pause == .untilAC, reading.value?.onBattery == false { pause = nil }
    case .powerSaver(let reading): conditions.powerSaver = reading
    case .idle(let reading): conditions.idle = reading
    case .pressure(let reading): conditions.pressure = reading
    case .fact(let fact, let reading): conditions.facts[fact] = reading
    }
  }

  /// Lets a refresh continue whose constraints are met again, and warns it again before its deadline.
  private mutating func regain(at now: Instant) {
    for (id, app) in apps {
      guard let run = app.run, run.lossStop != nil, !unmetToGoOn(app, at: now) else { continue }
      apps[id]?.run?.lossStop = nil
      guard case .warned = run.stage, run.sleep == nil, now < run.deadline - .seconds(5) else { continue }
      note("warned", "running", "time")
      apps[id]?.run?.stage = .running
    }
  }

  /// Notes a task's report: the first one counts, if nobody has asked the task to end.
  private mutating func hear(_ outcome: Outcome, from task: Int, _ refresh: RefreshID) {
    guard let id = app(of: refresh), let run = apps[id]?.run, run.isOpen(task), run.said[task] == nil else { return }
    if run.stopReason == nil { apps[id]?.run?.said[task] = outcome }
  }

  /// Notes the end of a task: by its report, else by the rules of its file.
  private mutating func hear(_ end: TaskEnd, of task: Int, _ refresh: RefreshID) {
    guard let id = app(of: refresh), let run = apps[id]?.run, run.isOpen(task) else { return }
    let seen: Outcome = run.stopReason.map { .failed(.stopped($0)) } ?? run.tasks[task].judge(end)
    apps[id]?.run?.ended[task] = run.said[task] ?? seen
  }

  private func app(of refresh: RefreshID) -> AppID? { apps.first { $0.value.run?.id == refresh }?.key }

  private mutating func forgetAsked(_ id: AppID) {
    apps[id]?.isAsked = false
    apps[id]?.isAskedByHand = false
    apps[id]?.mayRetryAtOnce = false
    apps[id]?.retryFrom = nil
  }

  /// Notes the end of a refresh: one that was cut short is neither a success nor a failure.
  mutating func note(_ record: RefreshRecord, at now: Instant) {
    guard var app = apps[record.app] else { return }
    var hint: Duration?
    if app.run?.id == record.id {
      hint = record.outcome.isFresh ? nil : app.run?.retryAfter
      (app.run, app.keepsAnswers) = (nil, false)
      if app.isAttached { app.expectOwnWrites(at: now) }
    }
    // The server's reply is unknown after a crash of the daemon.
    if record.outcome != .failed(.daemonCrashed) { app.refusedUntil = nil }
    if record.outcome.isFresh {
      app.freshAt = max(record.startedAt, app.freshAt ?? record.startedAt)
      let isByTime = [.interval, .catchUp, .retry].contains(record.trigger)
      if app.grid != nil, app.phase != .background || !isByTime { app.grid = record.startedAt }
    }
    if record.stopReason == .deadline { app.strikes = Array((app.strikes + [now]).suffix(3)) }
    if record.isCutShort {
      app.mayRetryAtOnce = true
    } else if record.outcome.isTemporary || hint != nil {
      app.failures = min(app.failures + 1, 10)
      let from = now + max(hint ?? .zero, .seconds(30 << (app.failures - 1)))
      app.retryFrom = from
      app.refusedUntil = hint.map { _ in from }
    } else {
      app.failures = 0
    }
    apps[record.app] = app
  }
}

extension Bystander.Run {
  /// Whether a task has started and not ended.
  fileprivate func isOpen(_ task: Int) -> Bool {
    tasks.indices.contains(task) && started.contains(task) && ended[task] == nil
  }
}

extension Outcome {
  /// Whether the failure may not repeat.
  var isTemporary: Bool {
    switch self {
    case .failed(.temporary), .failed(.lostClient): true
    default: false
    }
  }
}

extension Decision {
  /// Whether a refresh ends at the very moment at which its start would be performed.
  func endsAtBegin(_ event: Event) -> Bool {
    guard case .began(let refresh) = event else { return false }
    return changes.history.refreshes.contains { $0.id == refresh }
  }

  /// Whether the decision sends a push to the app.
  func tellsPush(to app: AppID) -> Bool {
    changes.pushes.values.contains { if case .kept(app, let push) = $0 { push.attempts > 0 } else { false } }
  }
}

extension RefreshRecord {
  /// Whether the daemon's end or a lost constraint ended it early.
  var isCutShort: Bool {
    outcome == .failed(.daemonCrashed)
      || tasks.contains {
        [.daemonCrashed, .stopped(.shutdown), .stopped(.constraintLost), .stopped(.sleep)].map(Outcome.failed)
          .contains($0.outcome)
      }
  }
}
