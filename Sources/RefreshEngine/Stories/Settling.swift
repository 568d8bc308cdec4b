// What follows from the verdicts on the touched apps, at the end of each event.

extension Engine {
  /// Queues an app for the next free slot, unless anything but a missing slot holds it.
  mutating func queueForSlot(_ index: AppIndex, at now: Instant) {
    var entry: StartQueue.Entry?
    switch verdict(on: index, at: now) {
    case .ready(let due), .held([.concurrency], let due?):
      if let policy = apps[index].policy {
        entry = StartQueue.Entry(
          isBackground: apps[index].phase != .foreground, latest: due.window.latest, index: index, user: policy.owner)
      }
    case .refreshing: return schedule.queue(index, nil)
    case .notDue, .held, .clear: break
    }
    schedule.queue(index, entry)
    apps[index].questions.extend(whileQueued: entry != nil, at: now)
  }

  /// Starts the apps that wait for a slot while there are slots for them.
  mutating func startQueued(_ turn: inout Turn) {
    while let index = schedule.takeNext(where: { [judge] in judge.hasSlot(of: $0) }) {
      turn.touch(index)
      if case .ready(let due) = verdict(on: index, at: turn.now) { startRefresh(index, due.trigger, &turn) }
    }
  }

  /// Draws the consequences of an app's new verdict: opening, wait, reports, guard, question, and its place in the schedule.
  ///
  /// The order is fixed, because each step may take the next run id.
  mutating func settle(_ index: AppIndex, _ turn: inout Turn) {
    confirmOpening(of: index, &turn)
    let verdict = verdict(on: index, at: turn.now)
    recordWait(index, verdict, &turn)
    reportStaleness(index, &turn)
    reportEpisode(index, verdict, &turn)
    updateGuard(index, verdict, &turn)
    ask(index, verdict, &turn)
    var window: Window?
    switch verdict {
    case .refreshing:
      window = apps[index].refreshing?.nextChange.map { Window(earliest: $0, latest: $0) }
    case .ready(let due), .notDue(let due): window = due.window
    case .held(let holds, let due):
      window = judge.wake(of: holds, of: due, on: apps[index], at: turn.now).map { Window(earliest: $0, latest: $0) }
    case .clear: break
    }
    if let end = judge.reportsStaleAt(apps[index]) { window = Window(window, ending: end) }
    if let end = judge.reportsHeldAt(apps[index], verdict) { window = Window(window, ending: end) }
    if let end = apps[index].visits.countsAsOpenedAt { window = Window(window, ending: end) }
    if let end = judge.guardWake(apps[index], verdict, at: turn.now) { window = Window(window, ending: end) }
    let isHeld = if case .held = verdict { true } else { false }
    schedule.file(index, window, followsConditions: isHeld || apps[index].followsConditions)
  }

  /// Asks the command of the first question that holds a due app, unless it is being asked or has just said no.
  ///
  /// Nothing is asked while anything else holds the app, so that no command runs in vain.
  private mutating func ask(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    let asked = judge.constraintToAsk(in: verdict) ?? judge.constraintToAskAgain(of: apps[index], verdict, at: turn.now)
    guard let constraint = asked, apps[index].questions.mayAsk(constraint, at: turn.now) else { return }
    let run = makeRun(of: apps.id(at: index), for: .question(constraint))
    apps[index].questions.ask(constraint, by: run.id)
    turn.decision.effects.append(.ask(run))
  }
}

// Reports.

extension Engine {
  /// Updates the record of the holds on a due app, and closes it when they change.
  private mutating func recordWait(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    var names: [Hold.Name] = []
    if case .held(let holds, _) = verdict, !judge.isHeldByOpenQuestions(apps[index], holds) {
      names = holds.map(\.name).filter(\.isWorthARecord)
    }
    // Nothing is saved about an erased app.
    if apps[index].timetable.seenAt == nil { names = [] }
    let waiting = apps[index].reports.waiting
    guard names != waiting?.holds ?? [] else { return }
    if let waiting {
      turn.decision.changes.history.waits.append(
        WaitRecord(app: apps.id(at: index), since: waiting.since, until: turn.now, holds: waiting.holds))
    }
    apps[index].reports.wait(for: names, since: turn.now)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  /// Updates the episode of an app whose file has `held_for`, and reports it when due.
  private mutating func reportEpisode(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    // Nothing is judged before the first configuration.
    guard judge.life.isConfigured else { return }
    let (before, heldFor) = (apps[index].reports.episode, apps[index].policy?.heldFor)
    guard before != nil || heldFor != nil else { return }
    let part = judge.part(of: verdict, on: apps[index])
    if heldFor == nil || part == .outside {
      apps[index].reports.endEpisode()
    } else if part == .inEpisode {
      apps[index].reports.beginEpisode(at: turn.now)
    }
    if let due = judge.reportsHeldAt(apps[index], verdict), due <= turn.now,
      let since = apps[index].reports.episode?.since
    {
      apps[index].reports.markEpisodeReported()
      let run = makeRun(of: apps.id(at: index), for: .notice)
      turn.decision.effects.append(.reportHeld(run, verdict.holds.map(\.name), since: since))
    }
    if apps[index].reports.episode != before { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }

  /// Reports stale data when due, and clears the report when the data is fresh again.
  private mutating func reportStaleness(_ index: AppIndex, _ turn: inout Turn) {
    let isReported = apps[index].reports.isStaleReported
    guard let policy = apps[index].policy, isReported || policy.staleAfter != nil else { return }
    if isReported {
      guard apps[index].turnsStaleAt.map({ $0 > turn.now }) ?? true else { return }
      apps[index].reports.setStaleReported(false)
    } else {
      guard let due = judge.reportsStaleAt(apps[index]), due <= turn.now,
        let ageBegan = apps[index].timetable.ageBegan
      else { return }
      apps[index].reports.setStaleReported(true)
      turn.decision.effects.append(.reportStale(makeRun(of: apps.id(at: index), for: .notice), since: ageBegan))
    }
    turn.decision.changes.apps.insert(apps.id(at: index))
  }
}

// Guards.

extension Engine {
  /// Acts on the verdict about a guard, or about an app that was a guard before.
  private mutating func updateGuard(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    let unit = apps[index].policy?.guarded
    guard unit != nil || apps[index].guarding.isInUse else { return }
    // No keeper starts before the machine sleeps, and a daemon that stops ends the keepers itself.
    guard judge.life.isConfigured, !judge.life.isStopping, !judge.life.isSuspending else { return }
    let keeper = apps[index].guarding.keeper
    if let keeper, keeper.isReturning { return }
    // Until the mistake in the file is corrected, everything stays as it is.
    if apps[index].policy?.unusable != nil { return }
    if let keeper, keeper.unit != unit { return giveBack(keeper.unit, index, &turn) }
    if keeper == nil, let left = apps[index].guarding.keptUnit {
      if let unit, let kept = unit.matching(kept: left) {
        if kept != unit { return giveBack(kept, index, &turn) }
      } else {
        setKept(nil, index, &turn)
        turn.decision.effects.append(.reportLeftUnit(apps.id(at: index), GuardedUnit(kept: left)))
      }
    }
    guard let unit else { return apps[index].guarding.clear() }
    switch verdict {
    case .held(let holds, _) where holds.map(\.name) == [.unsteady]: apps[index].guarding.conditionsMet(at: turn.now)
    case .held(let holds, _) where !judge.isUndecided(holds, apps[index]):
      keep(unit, index, &turn)
      if holds.contains(where: \.isOfConditions) { apps[index].guarding.conditionsLost(at: turn.now) }
    case .clear where keeper != nil || apps[index].guarding.keptUnit != nil: giveBack(unit, index, &turn)
    default: break
    }
  }

  private mutating func keep(_ unit: GuardedUnit, _ index: AppIndex, _ turn: inout Turn) {
    guard apps[index].guarding.mayStartKeeper(at: turn.now) else { return }
    let run = makeRun(of: apps.id(at: index), for: .keeper)
    apps[index].guarding.keep(run.id, unit)
    turn.decision.effects.append(.keep(run, unit, isKept: apps[index].guarding.keptUnit == unit.kept))
  }

  private mutating func giveBack(_ unit: GuardedUnit, _ index: AppIndex, _ turn: inout Turn) {
    let keeper = apps[index].guarding.keeper
    guard keeper != nil || apps[index].guarding.mayStartKeeper(at: turn.now) else { return }
    let app = apps.id(at: index)
    let run = keeper.map { Run($0.id, of: app, for: .keeper) } ?? makeRun(of: app, for: .keeper)
    apps[index].guarding.giveBack(run.id, unit)
    // A keeper that has reported runs; it does nothing to the unit before its first report.
    let isRunning = keeper != nil && apps[index].guarding.report != nil
    turn.decision.effects.append(.giveBack(run, unit, isRunning: isRunning))
  }

  /// Sets the unit that a guard keeps, and has that saved.
  mutating func setKept(_ unit: String?, _ index: AppIndex, _ turn: inout Turn) {
    if apps[index].guarding.setKept(unit) { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }
}
