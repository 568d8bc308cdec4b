import RefreshEngine

/// Mistakes that an engine or a daemon could make, each with the check that has to find it.
let plantedFaults: [Planted] =
  ofRuns + ofChains + plantedFaultsOfStops + ofTime + ofStore + ofStaleness + ofWaiting + ofPolicy + ofAttached
  + plantedFaultsOfTransfers + plantedFaultsOfPushes + plantedFaultsOfLongWaits + plantedFaultsOfProspects
  + plantedFaultsOfChanges

private let ofRuns = [
  Planted("OneAtATime", "starts what is ready twice") { fault in
    fault.deciding = { decision, _ in
      for case .start(let id, let app, let trigger, let deadline) in decision.effects {
        let twin = RefreshID(start: id.run.start, number: id.run.number + 1_000_000)
        decision.effects.append(.start(twin, app, trigger, deadline: deadline))
      }
    }
  },
  Planted("OneAtATime", "starts beside the orphans of the one before", apps: 20) { $0.ofDaemon = .leavesOrphans },
  Planted("OneOutcome", "loses what ended") { fault in
    fault.deciding = { decision, _ in decision.changes.history.refreshes = [] }
  },
  Planted("OneOutcome", "writes what ended down twice") { fault in
    fault.deciding = { decision, _ in decision.changes.history.refreshes += decision.changes.history.refreshes }
  },
  Planted("NeverEarly", "forgets when it started last") { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.lastStart = nil
      return forgetful
    }
  },
  Planted("NeverEarly", "halves the floors") { fault in
    fault.hearing = { event, _ in
      guard case .configured(let limits, let policies) = event else { return [event] }
      let halves = Limits(foregroundFloor: limits.foregroundFloor / 2, backgroundFloor: limits.backgroundFloor / 2)
      return [.configured(halves, policies)]
    }
  },
  Planted("NoStartWhileHeld", "does not hear a logout") { fault in
    fault.hearing = { event, _ in if case .signalled(_, .logout) = event { [] } else { [event] } }
  },
  Planted("NoStartWhileHeld", "does not hear that it stops") { fault in
    fault.hearing = { event, _ in if case .stopped = event { [] } else { [event] } }
  },
  Planted("NoStartWhileHeld", "does not hear of a reload") { fault in
    fault.hearing = { event, engine in
      if case .configured = event, !engine.configuredApps.isEmpty { [] } else { [event] }
    }
  },
  Planted("NoStartWhileHeld", "does not hear that a disk is gone") { fault in
    fault.hearing = { event, _ in
      if case .observed(.fact(_, let reading)) = event, reading.value?.isMet == false { [] } else { [event] }
    }
  },
  Planted("NoStartWhileHeld", "takes every answer of a command for a yes") { fault in
    fault.hearing = { event, _ in
      guard case .answered(let question, _) = event else { return [event] }
      return [.answered(question, FactState(isMet: true, text: "yes"))]
    }
  },
  Planted("NothingReadyIsLeft", "sleeps through its wakes") { fault in
    fault.hearing = { event, _ in event == .wokeUp ? [] : [event] }
  },
  Planted("TimeGoesOn", "asks for a wake that changes nothing") { fault in
    fault.hearing = { event, _ in event == .wokeUp ? [] : [event] }
  },
  Planted("AskedDuringRun", "does not hear what asks during a run") { fault in
    fault.hearing = { event, engine in
      guard case .requested(let id, _) = event else { return [event] }
      guard case .refreshing = engine.verdict(on: id, at: Instant(microseconds: 0)) else { return [event] }
      return []
    }
  },
  Planted("DuplicatesAddNothing", "refreshes on every signal") { fault in
    fault.hearing = { event, _ in
      guard case .signalled(let id, .foreground) = event else { return [event] }
      return [event, .requested(id, .foreground)]
    }
  },
]

private let ofChains = [
  Planted("ChainsAreInOrder", "takes every end of a task for a good one") { fault in
    fault.hearing = { event, _ in
      guard case .taskEnded(let refresh, let task, var end) = event else { return [event] }
      end.exit = .exited(0)
      return [.taskEnded(refresh, task: task, end)]
    }
  },
  Planted("ChainsAreInOrder", "starts the next task of what it stops") { fault in
    fault.deciding = { decision, _ in
      for case .terminate(let id, let app, _) in decision.effects {
        decision.effects.append(.startTask(id, app, task: 1))
      }
    }
  },
  Planted("ChainsAreInOrder", "forgets the next task") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .startTask = $0 { true } else { false } }
    }
  },
]

private let ofTime = [
  Planted("WakeIsTheMinimum", "wakes a second late") { fault in
    fault.waking = { Window(earliest: $0.earliest + .seconds(1), latest: $0.latest + .seconds(1)) }
  },
  Planted("ClockStepMovesNothing", "catches up when the clock is set") { fault in
    fault.hearing = { event, engine in
      guard case .clockStepped = event else { return [event] }
      return [event] + engine.configuredApps.map { .requested($0, .catchUp) }
    }
  },
  Planted("TimeOffCounts", "takes a late clock for one that was right", apps: 10) { $0.ofDaemon = .forgetsTimeOff },
  Planted("ForegroundIsExact", "lags in the foreground") { fault in
    fault.hearing = { event, _ in
      guard case .configured(let limits, let policies) = event else { return [event] }
      let slower = policies.mapValues { policy in
        guard case .every(let interval) = policy.foregroundInterval else { return policy }
        var slower = policy
        slower.foregroundInterval = .every(interval + .seconds(1))
        return slower
      }
      return [.configured(limits, slower)]
    }
  },
  Planted("BacklogIsSpread", "comes to its backlog in one late wake", seed: 4, apps: 50, mayHang: false) { fault in
    fault.waking = { Window(earliest: $0.earliest + .minutes(2), latest: $0.latest + .minutes(2)) }
  },
]

private let ofStore = [
  Planted("MemoryIsDisk", "does not say that intervals changed") { fault in
    fault.deciding = { decision, event in
      if case .overridden = event { decision.changes.apps = [] }
    }
  },
  Planted("SurvivesRestart", "forgets the intervals that were set") { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.overrides = Overrides()
      return forgetful
    }
  },
  Planted("SavedBeforePerformed", "does not wait for a disk that does not answer", mayHang: true) {
    $0.ofDaemon = .doesNotWaitForDisk
  },
  Planted("OneAtATime", "starts what was stopped while the disk did not answer", mayHang: true) {
    $0.ofDaemon = .startsWhatWasStopped
  },
  Planted("SavedBeforePerformed", "performs before it saves") { $0.ofDaemon = .performsBeforeSaving },
  Planted("FreshInTheEnd", "loses some ends of tasks") { $0.ofDaemon = .losesEndsOfTasks },
]

private let ofWaiting = [
  Planted("NobodyStarves", "never learns that tasks were started", apps: 20) { $0.ofDaemon = .concealsStarts },
  Planted("NightsPass", "does not hear of another time zone, nor that the clock was set", isPlanned: true) { fault in
    fault.hearing = { event, _ in
      switch event {
      case .zoneChanged, .clockStepped: []
      default: [event]
      }
    }
  },
]

private let ofStaleness = [
  Planted("StaleIsToldOnce", "forgets what it has told", apps: 20) { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.isStaleReported = false
      return forgetful
    }
  },
  Planted("StaleIsToldOnce", "tells nobody") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .reportStale = $0 { true } else { false } }
    }
  },
  Planted("StaleIsToldOnce", "tells too early") { fault in
    fault.hearing = { event, _ in event.changingPolicies { $0.staleAfter = $0.staleAfter.map { $0 / 2 } } }
  },
]

private let ofAttached = [
  Planted("AttachedServe", "does not hear that a process is gone") { fault in
    fault.hearing = { event, _ in if case .detached = event { [] } else { [event] } }
  },
  Planted("AttachedServe", "does not hear of a process that attaches") { fault in
    fault.hearing = { event, _ in if case .attached = event { [] } else { [event] } }
  },
  Planted("SurvivorsGoOn", "does not ask for what outlived the daemon before it") { fault in
    fault.hearing = { event, _ in if case .survived = event { [] } else { [event] } }
  },
  Planted("SleepIsInTime", "does not hear that the machine goes to sleep", seed: 17) { fault in
    fault.hearing = { event, _ in if case .suspending = event { [] } else { [event] } }
  },
  Planted("LongWorkMakesRoom", "warns of nothing, also when a condition is lost", apps: 20) { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .warn = $0 { true } else { false } }
    }
  },
]

private let ofPolicy = [
  Planted("NoStartWhileHeld", "does not hear a pause") { fault in
    fault.hearing = { event, _ in if case .paused = event { [] } else { [event] } }
  },
  Planted("NoStartWhileHeld", "does not hear that an app is disabled") { fault in
    fault.hearing = { event, _ in if case .disabled = event { [] } else { [event] } }
  },
  Planted("NoStartWhileHeld", "does not look at constraints") { fault in
    fault.hearing = { event, _ in event.changingPolicies { $0.constraints = Constraints() } }
  },
  Planted("NoStartWhileHeld", "does not know quiet hours", seed: 7, apps: 10) { fault in
    fault.hearing = { event, _ in event.changingPolicies { $0.quiet = nil } }
  },
  Planted("NoStartWhileHeld", "does not let the machine settle") { fault in
    fault.hearing = { event, _ in event == .resumed ? [] : [event] }
  },
  Planted("PlacesAreBounded", "does not count its places", apps: 20) { fault in
    fault.hearing = { event, _ in
      guard case .configured(var limits, let policies) = event else { return [event] }
      limits.maxConcurrent = nil
      return [.configured(limits, policies)]
    }
  },
  Planted("UsersShareThePlaces", "does not count the places of each user", apps: 20) { fault in
    fault.hearing = { event, _ in
      guard case .configured(var limits, let policies) = event else { return [event] }
      limits.maxConcurrentPerUser = nil
      return [.configured(limits, policies)]
    }
  },
  Planted("RetriesBackOff", "tries failures again at once") { fault in
    fault.hearing = { event, engine in
      guard case .taskEnded(let refresh, _, let end) = event, end.exit == .exited(75) else { return [event] }
      let id = engine.configuredApps.first { engine.state(of: $0)?.running?.id == refresh }
      return [event] + (id.map { [.requested($0, .retry)] } ?? [])
    }
  },
  Planted("LostIsNoFailure", "calls a lost constraint an overrun", apps: 20) { fault in
    fault.deciding = { decision, _ in
      for index in decision.changes.history.refreshes.indices
      where decision.changes.history.refreshes[index].stopReason == .constraintLost {
        decision.changes.history.refreshes[index].stopReason = .deadline
      }
    }
  },
  Planted("RefusalsAreKept", "does not hear how long a server wants to be left alone") { fault in
    fault.hearing = { event, _ in if case .retryAfter = event { [] } else { [event] } }
  },
  Planted("NoStartWhileHeld", "does not know that a file has a mistake", apps: 20) { fault in
    fault.hearing = { event, _ in
      event.changingPolicies { policy in
        if policy.unusable != nil { policy.tasks = [TaskPolicy(name: "task0")] }
        policy.unusable = nil
      }
    }
  },
  Planted("WaitsAreHonest", "does not write waits down") { fault in
    fault.deciding = { decision, _ in decision.changes.history.waits = [] }
  },
  Planted("OneShotsStartOnce", "starts at once what was asked for later") { fault in
    fault.hearing = { event, _ in
      guard case .scheduled(let id, _) = event else { return [event] }
      return [event, .wokeUp, .requested(id, .manual), .wokeUp]
    }
  },
  Planted("OneShotsStartOnce", "forgets what was asked for later") { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.oneShot = nil
      return forgetful
    }
  },
]

extension Event {
  /// Changes every policy of a configuration; returns every other event unchanged.
  func changingPolicies(_ change: (inout Policy) -> Void) -> [Event] {
    guard case .configured(let limits, let policies) = self else { return [self] }
    return [
      .configured(
        limits,
        policies.mapValues { policy in
          var changed = policy
          change(&changed)
          return changed
        })
    ]
  }
}
