import RefreshEngine

/// Mistakes that could be made with changes in watched folders.
let plantedFaultsOfChanges = [
  Planted("ChangesSettle", "waits for half of the settle time", apps: 20) { fault in
    fault.hearing = { event, _ in event.changingPolicies { $0.watchSettle = $0.watchSettle / 2 } }
  },
  Planted("ChangesSettle", "refreshes for what a refresh itself writes", apps: 20) { fault in
    fault.hearing = { event, engine in
      guard case .changed(let id, _) = event, engine.state(of: id)?.running != nil else { return [event] }
      return [.requested(id, .change)]
    }
  },
  Planted("ChangesSettle", "hears of the first change only", apps: 20) { fault in
    fault.hearing = { event, engine in
      guard case .changed(let id, _) = event, engine.explain(id, at: Instant(microseconds: 0))?.change != nil else {
        return [event]
      }
      return []
    }
  },
  Planted("ChangesSettle", "does not hear of changes", apps: 20) { fault in
    fault.hearing = { event, _ in if case .changed = event { [] } else { [event] } }
  },
]
