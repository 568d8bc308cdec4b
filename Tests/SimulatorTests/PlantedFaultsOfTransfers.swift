import RefreshEngine

/// Mistakes that could be made with transfers.
let plantedFaultsOfTransfers = [
  Planted("OneWorkerAtATime", "gives a transfer to two workers") { fault in
    fault.deciding = { decision, _ in
      for case .transfer(let id, let app) in decision.effects { decision.effects.append(.transfer(id, app)) }
    }
  },
  Planted("TransfersWait", "does not count places") { fault in
    fault.hearing = { event, _ in
      guard case .configured(var limits, let policies) = event else { return [event] }
      limits.transfers.maxConcurrent = 100
      return [.configured(limits, policies)]
    }
  },
  Planted("TransfersWait", "does not hear of the network") { fault in
    fault.hearing = { event, _ in
      guard case .observed(.network(let reading)) = event, reading.value?.metered.isMetered == true else {
        return [event]
      }
      return []
    }
  },
  Planted("UsersTakeTurns", "takes all apps for one user's", seed: 22) { fault in
    fault.hearing = { event, _ in
      guard case .configured(let limits, var policies) = event else { return [event] }
      for id in policies.keys { policies[id]?.owner = 0 }
      return [.configured(limits, policies)]
    }
  },
  Planted("TransfersWake", "wakes an hour too late") { fault in
    fault.waking = { Window(earliest: $0.earliest + .hours(1), latest: $0.latest + .hours(1)) }
  },
  Planted("TransfersEnd", "does not hear that there is room") { fault in
    fault.hearing = { event, _ in if case .roomFound = event { [] } else { [event] } }
  },
  Planted("TransfersEnd", "gives up after half of the time") { fault in
    fault.hearing = { event, _ in
      guard case .configured(var limits, let policies) = event else { return [event] }
      limits.transfers.giveUp = limits.transfers.giveUp / 2
      return [.configured(limits, policies)]
    }
  },
  Planted("SessionsAreTold", "forgets that it has told") { fault in
    fault.deciding = { decision, _ in decision.changes.history.refreshes.removeAll { $0.trigger == .transfer } }
  },
]
