import RefreshEngine

/// Mistakes that could be made with the end of a refresh.
let plantedFaultsOfStops = [
  Planted("StopsInTime", "gives no grace") { fault in
    fault.deciding = { decision, _ in
      for case .terminate(let id, let app, _) in decision.effects { decision.effects.append(.kill(id, app)) }
    }
  },
  Planted("StopsInTime", "never kills") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .kill = $0 { true } else { false } }
    }
  },
  Planted("StopsInTime", "never gives up on a task that does not die") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .reportStuck = $0 { true } else { false } }
    }
  },
  Planted("StopsInTime", "never warns") { fault in
    fault.deciding = { decision, _ in
      decision.effects.removeAll { if case .warn = $0 { true } else { false } }
    }
  },
  Planted("SignalsNeverWait", "lets a signal wait for the disk", mayHang: true) { $0.ofDaemon = .signalsWaitForDisk },
  Planted("StopReasonsAreHonest", "blames the deadline for its own end", seed: 13, apps: 20) { fault in
    fault.deciding = { decision, _ in
      for index in decision.changes.history.refreshes.indices
      where decision.changes.history.refreshes[index].stopReason == .shutdown {
        decision.changes.history.refreshes[index].stopReason = .deadline
      }
    }
  },
  Planted("SwitchStopsNothing", "stops what runs when the app leaves the foreground") { fault in
    fault.hearing = { event, _ in
      guard case .signalled(let id, .background) = event else { return [event] }
      return [event, .signalled(id, .logout), .signalled(id, .login)]
    }
  },
]
