import RefreshEngine

/// Mistakes that could be made with the reports of long waits.
let plantedFaultsOfLongWaits = [
  Planted("LongWaitsAreToldOnce", "forgets of which waits it has told", apps: 20) { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.episode?.isReported = false
      return forgetful
    }
  },
  Planted("LongWaitsAreToldOnce", "tells of a wait at every change") { fault in
    fault.deciding = { decision, _ in
      for case .reportHeld(let run, let holds, let since) in decision.effects {
        decision.effects.append(.reportHeld(run, holds, since: since))
      }
    }
  },
  Planted("LongWaitsAreToldOnce", "tells nobody of a wait") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .reportHeld = $0 { true } else { false } }
    }
  },
  Planted("LongWaitsAreToldOnce", "tells of a wait too early") { fault in
    fault.hearing = { event, _ in event.changingPolicies { $0.heldFor = $0.heldFor.map { $0 / 2 } } }
  },
]
