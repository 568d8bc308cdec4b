import RefreshEngine

/// The promises of the engine and its daemon; PlantedFaultTests show that each check can fail.
public enum Invariants {
  /// Makes new checks for a simulation.
  public static func all() -> [any Invariant] {
    [
      OneAtATime(), OneOutcome(), NeverEarly(), NoStartWhileHeld(), NothingReadyIsLeft(), WakeIsTheMinimum(),
      StopsInTime(), StopReasonsAreHonest(), SwitchStopsNothing(), DuplicatesAddNothing(), MemoryIsDisk(),
      SurvivesRestart(), ClockStepMovesNothing(), FreshInTheEnd(), ForegroundIsExact(), BacklogIsSpread(),
      AskedDuringRun(), SavedBeforePerformed(), PlacesAreBounded(), UsersShareThePlaces(), RetriesBackOff(),
      RefusalsAreKept(), TimeOffCounts(),
      LostIsNoFailure(), WaitsAreHonest(), OneShotsStartOnce(), ChainsAreInOrder(), StaleIsToldOnce(),
      LongWaitsAreToldOnce(), NobodyStarves(), SignalsNeverWait(), NightsPass(), AttachedServe(), SurvivorsGoOn(),
      SleepIsInTime(), LongWorkMakesRoom(),
      OneWorkerAtATime(), TransfersWait(), UsersTakeTurns(), TransfersWake(), TransfersEnd(),
      SessionsAreTold(), PushesAreLimited(), PushesWait(), PushesAreTold(), PushesAreMerged(),
      ProspectsAreTrue(), ChangesSettle(),
    ]
  }
}

struct OneAtATime: Invariant {
  static let promise = "An app never has two refreshes at once, not even beside an orphan."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .performed(let effect) = observation, let new = effect.beginning else { return nil }
    return world.processes.first { $0.app == new.app }.map {
      "\(new.app) starts \(new.id) while \($0.refresh) is there"
    }
  }
}

struct OneOutcome: Invariant {
  static let promise = "Every refresh whose start was saved has exactly one outcome, or is running."
  private var started: [RefreshID: AppID] = [:]
  private var ended: Set<RefreshID> = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .saved(let changes):
      for app in changes.apps {
        if let running = world.store.states[app]?.running { started[running.id] = app }
      }
      for record in changes.history.refreshes where !ended.insert(record.id).inserted {
        return "\(record.id) has two outcomes"
      }
      return nil
    case .finished:
      let running = Set(world.store.states.values.compactMap { $0.running?.id })
      let lost = started.keys.filter { !ended.contains($0) && !running.contains($0) }.min()
      return lost.map { "\($0) has no outcome" }
    default: return nil
    }
  }
}

struct NeverEarly: Invariant {
  static let promise = "By time, nothing starts before the interval in force, not below its floor, has ended."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings {
      let (id, app, trigger) = (new.id, new.app, new.trigger)
      guard trigger == .interval || trigger == .catchUp, let seen = world.book.apps[app] else { continue }
      guard seen.spacing(world.book.limits) != nil else { return "\(id) of \(app) starts in spite of never" }
      var past = seen
      guard let before = turn.before[app] else { continue }
      (past.lastStart, past.grid, past.freshAt) = (before.lastStart, before.grid, before.freshAt)
      guard let end = past.intervalEnd(world.book.limits), let last = before.lastStart else { continue }
      if end > world.instant { return "\(id) of \(app) starts \(last.duration(to: world.instant)) after the last" }
    }
    return nil
  }
}

struct NoStartWhileHeld: Invariant {
  static let promise =
    "Nothing starts that something holds: its user's word, a condition, quiet hours, the daemon's end."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings {
      let (id, app, trigger) = (new.id, new.app, new.trigger)
      let byTime = trigger == .interval || trigger == .catchUp || trigger == .change
      let hold = world.book.hold(
        on: app, byTime: byTime, isManual: trigger == .manual, isOfTransfers: trigger == .transfer, at: world.instant)
      if let hold { return "\(id) of \(app) starts (\(trigger)) although \(hold)" }
    }
    return nil
  }
}

struct NothingReadyIsLeft: Invariant {
  static let promise = "After each event no app's verdict is ready: the scheduler starts exactly those that were."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain else { return nil }
    for id in world.ids {
      if case .ready = brain.verdict(on: id, at: world.instant) { return "\(id) is ready and was not started" }
    }
    return nil
  }
}

struct AskedDuringRun: Invariant {
  static let promise = "Whatever asks for a refresh during a run leads to one more, right after it."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for record in turn.decision.changes.history.refreshes {
      guard let before = turn.before[record.app], before.run?.id == record.id, before.isAsked else { continue }
      guard let after = world.book.apps[record.app], !after.isLoggedOut, after.policy != nil else { continue }
      let now = world.instant
      if world.book.mayHold(record.app, at: now) || world.book.isFull(for: record.app, at: now) { continue }
      let next = turn.decision.beginnings.filter { $0.app == record.app }
      if next.count != 1 { return "\(next.count) refreshes follow \(record.id) of \(record.app), which was asked for" }
    }
    return nil
  }
}
