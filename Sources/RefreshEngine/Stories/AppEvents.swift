// What happens to one app: signals and presence, requests and switches.

extension Engine {
  /// Applies a signal, which holds until the next signal.
  mutating func applySignal(_ id: AppID, _ signal: Signal, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    changePhase(index, &turn) { $0.apply(signal) }
  }

  /// Applies a signal, which holds until its lease ends.
  mutating func addLease(_ lease: LeaseID, _ id: AppID, _ signal: Signal, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    changePhase(index, &turn) { $0.addLease(lease, signal) }
  }

  /// Undoes the signal of a lease.
  mutating func endLease(_ lease: LeaseID, _ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    changePhase(index, &turn) { $0.endLease(lease) }
  }

  /// Applies the presence of an app on desktops.
  mutating func applyPresence(_ id: AppID, _ presence: Presence, _ turn: inout Turn) {
    guard let index = apps.index(of: id), let policy = apps[index].policy, apps[index].visits.presence != presence
    else { return }
    changePhase(index, &turn) { $0.show(presence, endTerminates: policy.isTerminatedOnExit) }
  }

  /// Logs an app in or out when its owner logs in or out.
  ///
  /// Only a change counts, and the owner's state is stored. So a person's own `login` or `logout` of the app holds until the
  /// next change, also across a restart.
  mutating func applyOwner(_ id: AppID, _ isPresent: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].visits.isOwnerPresent != isPresent
    else { return }
    changePhase(index, &turn) { $0.setOwnerPresent(isPresent) }
  }

  /// Updates whether a process of the app serves its refreshes.
  mutating func attach(_ id: AppID, _ isAttached: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    // A daemon that stops closes the connection itself.
    if apps[index].attach(isAttached, isRemembered: isAttached || !judge.life.isStopping) {
      turn.decision.changes.apps.insert(id)
    }
    turn.touch(index)
  }

  /// Changes a cause of the phase, and applies the new phase.
  ///
  /// `lastStart` stays: the next start comes one new interval after it.
  private mutating func changePhase(_ index: AppIndex, _ turn: inout Turn, change: (inout Visits) -> Void) {
    let (before, saved) = (apps[index].phase, apps[index].saved)
    change(&apps[index].visits)
    let phase = apps[index].phase
    if phase != before {
      enter(phase, index, at: turn.now)
      turn.decision.phases[apps.id(at: index)] = phase
    }
    apps[index].visits.followPhase(from: before, at: turn.now)
    updateOpening(of: index, &turn)
    let isChanged = apps[index].saved != saved
    if phase == .loggedOut { stop(index, .logout, &turn) }
    if apps[index].visits.isLoggedOut != saved.isLoggedOut { transfers.touch() }
    turn.touch(index)
    if isChanged { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }

  /// Drops the request that ends with the phase, and makes the request that begins with it.
  private mutating func enter(_ phase: Phase, _ index: AppIndex, at now: Instant) {
    apps[index].requests.endWaitForUser()
    if phase == .loggedOut || apps[index].requests.pending?.trigger.endsWithPhase == true {
      apps[index].dropRequest(at: now)
    }
    if phase == .foreground { enterForeground(index, at: now) }
  }

  /// Applies `on_foreground` of the app's file: the user is about to see the data.
  ///
  /// With `stale` the age of the data counts, not the time since the last try. But no try comes sooner than the foreground
  /// floor after the last, however often the app comes and goes. A running refresh serves too.
  private mutating func enterForeground(_ index: AppIndex, at now: Instant) {
    guard let policy = apps[index].policy else { return }
    let (spacing, timetable) = (apps[index].spacing(in: .foreground, limits: judge.limits), apps[index].timetable)
    switch policy.onForeground {
    case .always:
      apps[index].request(.foreground, at: now)
    case .stale:
      guard let spacing, apps[index].refreshing == nil else { return }
      let isStale = timetable.freshAt.map { $0 + spacing <= now } ?? true
      let mayTry = timetable.lastStart.map { $0 + judge.limits.foregroundFloor <= now } ?? true
      if isStale && mayTry { apps[index].request(.foreground, at: now) }
    case .never:
      guard let spacing else { return }
      let isOverdue = timetable.lastStart.map { $0 + spacing <= now } ?? true
      if isOverdue { apps[index].request(.interval, at: max(now + spacing, timetable.refusedUntil ?? now)) }
    }
  }
}

// Requests for a refresh.

extension Engine {
  /// Requests a refresh, now or after the running refresh.
  ///
  /// An app that is off gets no request.
  mutating func request(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, !apps[index].isOff else { return }
    apps[index].request(trigger, at: turn.now)
    apps[index].questions.askSooner(at: turn.now, ofGuard: apps[index].isGuard)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Requests a refresh that ignores the app's constraints, for a person.
  mutating func force(_ id: AppID, _ turn: inout Turn) {
    request(id, .manual, &turn)
    guard let index = apps.index(of: id), apps[index].requests.pending?.trigger == .manual else { return }
    apps[index].requests.force()
  }

  /// Drops the request of an app, and has that saved.
  mutating func dropRequest(of index: AppIndex, _ turn: inout Turn) {
    guard apps[index].requests.pending != nil else { return }
    apps[index].dropRequest(at: turn.now)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  /// Applies a change in a watched folder of an app.
  ///
  /// A change during a refresh of the app counts as that refresh's own work; otherwise each refresh would lead to the next.
  /// An app that is off keeps its change until it is on again.
  mutating func applyChange(of id: AppID, in folder: String, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy?.watch.contains(folder) == true,
      apps[index].refreshing == nil, apps[index].requests.addChange(in: folder, at: turn.now)
    else { return }
    turn.touch(index)
  }

  /// Schedules a one-shot in place of an earlier one, or removes it; an app that is off gets none.
  mutating func schedule(_ id: AppID, _ oneShot: OneShot?, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, !apps[index].isOff,
      apps[index].requests.oneShot != oneShot
    else { return }
    apps[index].requests.schedule(oneShot)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }
}

// The user's switches, and intervals set at run time.

extension Engine {
  /// Disables an app, or enables it again.
  ///
  /// Stops its running refresh and drops its requests; keeps the schedule until it is enabled again.
  mutating func disable(_ id: AppID, _ isDisabled: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].switches.isDisabled != isDisabled
    else { return }
    apps[index].switches.disable(isDisabled)
    transfers.touch()
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
    guard isDisabled else { return }
    apps[index].requests.clear()
    stop(index, .user, &turn)
  }

  /// Skips the next refresh by time: nothing starts by time until one interval after it.
  ///
  /// A second skip before that refresh changes nothing: exactly one refresh is skipped. Nor does a skip change a skip of
  /// all. A refresh by another trigger does not end the skip.
  mutating func skip(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil,
      let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    else { return }
    if apps[index].switches.skipsAllUntil(at: turn.now) != nil { return }
    if let skippedUntil = apps[index].switches.skippedUntil, skippedUntil - spacing > turn.now { return }
    let due = judge.due(of: apps[index], at: turn.now)
    let byTime = due.flatMap { $0.trigger.isByTime ? $0.window.earliest : nil }
    let next = byTime ?? apps[index].dueByTime(limits: judge.limits, at: turn.now)
    apps[index].switches.skip(until: max(next ?? turn.now, turn.now) + spacing, all: false)
    if apps[index].requests.pending?.trigger.isDeferrable == true { apps[index].dropRequest(at: turn.now) }
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Skips every refresh by time before an instant; nil or a passed instant ends every skip.
  ///
  /// A refresh by another trigger does not end the skip, and a retry waits for its end.
  mutating func skipAll(_ id: AppID, until: Instant?, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    if let until, until > turn.now {
      apps[index].switches.skip(until: until, all: true)
      // A retry stays in place, and is due when the skip ends.
      let requests = apps[index].requests
      if let asked = requests.pending?.trigger, asked.isDeferrable, asked != .retry || requests.hasCallers {
        apps[index].dropRequest(at: turn.now)
      }
    } else {
      guard apps[index].switches.skippedUntil != nil else { return }
      apps[index].switches.skip(until: nil, all: false)
    }
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Sets an app's intervals in place of its file's.
  mutating func override(_ id: AppID, _ overrides: Overrides, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].timetable.overrides != overrides else { return }
    let isConfigured = apps[index].policy != nil
    let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    apps[index].timetable.override(overrides)
    dropOutdated(index, wasConfigured: isConfigured, spacingBefore: spacing, &turn)
    planner.consider(apps[index], judge, now: turn.now)
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Drops the request of an interval that is no longer in force; the new interval makes its own.
  ///
  /// After a start of the daemon the earlier interval is unknown. Then a request stays if the present interval allows it,
  /// such as the request of an app in a backlog.
  mutating func dropOutdated(
    _ index: AppIndex, wasConfigured: Bool, spacingBefore: Duration?, _ turn: inout Turn
  ) {
    guard let request = apps[index].requests.pending, request.trigger.isByTime else { return }
    let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    let isOutdated: Bool
    if wasConfigured {
      isOutdated = spacingBefore != spacing
    } else if let spacing {
      isOutdated = apps[index].timetable.lastStart.map { request.earliest < $0 + spacing } ?? false
    } else {
      isOutdated = true
    }
    if isOutdated { dropRequest(of: index, &turn) }
  }
}

// Reports of the commands that run beside refreshes.

extension Engine {
  /// Applies the answer of a command, unless the app no longer asks that question.
  mutating func answer(_ run: Run, _ state: FactState, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), apps[index].questions.applyAnswer(run, state, at: turn.now) else {
      return
    }
    turn.touch(index)
  }

  /// Takes back a question that was not asked, unless the app no longer asks it.
  mutating func withdraw(_ run: Run, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), apps[index].questions.withdraw(run) else { return }
    turn.touch(index)
  }

  /// Applies the report of a keeper: whether it keeps the unit from running from now on.
  mutating func applyReport(_ run: Run, isKept: Bool, _ text: String, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), let keeper = apps[index].guarding.keeper, keeper.id == run.id else {
      return
    }
    apps[index].guarding.applyReport(text)
    setKept(isKept ? keeper.unit.kept : nil, index, &turn)
    turn.touch(index)
  }

  /// Applies the end of a keeper.
  mutating func endKeeper(_ run: Run, _ end: KeeperEnd, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), let ended = apps[index].guarding.keeper, ended.id == run.id else {
      return
    }
    // A keeper that ended before it began has stopped nothing, so there is nothing to return.
    let hasNothing = ended.isReturning && apps[index].guarding.keptUnit == nil
    apps[index].guarding.end(hasNothing ? .returned(trouble: nil) : end, at: turn.now)
    if case .returned = end { setKept(nil, index, &turn) }
    turn.touch(index)
  }
}
