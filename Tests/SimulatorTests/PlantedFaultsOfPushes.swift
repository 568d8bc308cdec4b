import RefreshEngine

/// Mistakes that could be made with pushes.
let plantedFaultsOfPushes = [
  Planted("PushesAreLimited", "lets one more push wake an app than may") { fault in
    fault.hearing = { event, _ in
      guard case .configured(let limits, var policies) = event else { return [event] }
      for id in policies.keys { policies[id]?.pushLimit.burst += 1 }
      return [.configured(limits, policies)]
    }
  },
  Planted("PushesAreLimited", "forgets at its start which pushes have woken an app") { fault in
    fault.restoring = { state in
      var forgetful = state
      forgetful.pushedAt = []
      return forgetful
    }
  },
  Planted("PushesWait", "does not hear that the user ends an app") { fault in
    fault.hearing = { event, _ in if case .signalled(_, .terminated) = event { [] } else { [event] } }
  },
  Planted("PushesWait", "takes every push for urgent") { fault in
    fault.hearing = { event, _ in
      guard case .pushed(let app, var push) = event else { return [event] }
      push.urgency = .high
      return [.pushed(app, push)]
    }
  },
  Planted("PushesAreTold", "forgets that it has told") { fault in
    fault.deciding = { decision, _ in
      decision.changes.pushes = decision.changes.pushes.filter { if case .kept = $0.value { true } else { false } }
    }
  },
  Planted("PushesAreTold", "drops a push without a word") { fault in
    fault.deciding = { decision, _ in decision.changes.history.droppedPushes = [] }
  },
  Planted("PushesAreTold", "takes one that was stopped by the user for told", seed: 190) { fault in
    fault.deciding = { decision, _ in
      for record in decision.changes.history.refreshes where record.stopReason == .user && record.push != nil {
        for case (let id, .kept(record.app, let push)) in decision.changes.pushes where push.attempts > 0 {
          decision.changes.pushes[id] = .gone
        }
      }
    }
  },
  Planted("PushesAreMerged", "takes no push for the same as another") { fault in
    fault.hearing = { event, _ in
      guard case .pushed(let app, let push) = event else { return [event] }
      return [.pushed(app, push.ofItsOwn)]
    }
  },
]

extension Push {
  /// A copy of the push with a unique content id.
  fileprivate var ofItsOwn: Push {
    Push(id: id, payload: payload, contentID: "\(id) \(contentID ?? "")", urgency: urgency, at: arrivedAt)
  }
}
