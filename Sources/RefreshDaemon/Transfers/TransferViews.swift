import RefreshAPI
import RefreshEngine
import RefreshStore

// Transfers as the socket shows them.

extension Daemon {
  /// A transfer as it is at this instant; nil for one that is not there.
  func wire(_ id: TransferID, at now: Instant) -> Wire.Transfer? {
    guard let state = engine.transferState(of: id), let known = transfers[id],
      let verdict = engine.transferVerdict(on: id, at: now)
    else { return nil }
    let (request, policy) = (known.request, state.policy)
    var (result, ended): (TransferResult?, Instant?) = (nil, nil)
    if case .ended(let how, let at) = state.stage { (result, ended) = (how, at) }
    return Wire.Transfer(
      id: Int64(id.number), app: policy.app.description, session: policy.session.name,
      direction: Wire.Direction(request.direction), url: known.shownURL, path: request.path,
      description: request.description, state: Wire.TransferState(state.stage),
      holds: verdict.holds(of: policy, wallOffset: engine.wallOffset), untilMicroseconds: until(verdict),
      bytes: known.bytes, total: known.progress.total ?? request.length, rate: known.speed?.rate,
      attempts: known.progress.attempts, message: known.progress.message, result: result.map(Wire.TransferResult.init),
      sha256: known.progress.sha256, priority: Int64(policy.priority),
      network: Wire.NetworkConstraint(policy.network),
      enqueuedMicroseconds: policy.enqueuedAt.wallMicroseconds(at: engine.wallOffset),
      endedMicroseconds: ended?.wallMicroseconds(at: engine.wallOffset))
  }

  private func until(_ verdict: TransferVerdict) -> Int64? {
    guard case .notDue(let until) = verdict else { return nil }
    return until.wallMicroseconds(at: engine.wallOffset)
  }
}

extension TransferVerdict {
  /// What holds a transfer, and what lifts it; nil if nothing does.
  fileprivate func holds(of policy: TransferPolicy, wallOffset: Duration) -> [Wire.Hold]? {
    switch self {
    case .held(let holds):
      holds.map { hold in
        let shown = hold.wire(of: policy.app.description, wallOffset: wallOffset)
        guard let remedy = hold.remedy(of: policy) else { return shown }
        return Wire.Hold(name: shown.name, remedy: remedy, untilMicroseconds: shown.untilMicroseconds)
      }
    case .noSpace(let needed):
      [Wire.Hold(name: "space", remedy: "free \(needed) bytes on the disk of the file; it goes on by itself then")]
    case .ready, .notDue, .transferring, .stopping, .paused, .ended: nil
    }
  }
}

extension Hold {
  /// What lifts it, where that is something else for a transfer than for a refresh.
  fileprivate func remedy(of policy: TransferPolicy) -> String? {
    switch self {
    case .constraint(.network, _):
      switch policy.network {
      case .none, .any: "a network that reaches the internet"
      case .unmetered: "a network that is not metered"
      case .wifi: "Wi-Fi that reaches the internet"
      }
    case .concurrency:
      "a place among the transfers that run; max_concurrent and max_per_host of [transfers] bound them"
    default: nil
    }
  }
}

extension Wire.TransferState {
  init(_ stage: TransferState.Stage) {
    self =
      switch stage {
      case .waiting: .waiting
      case .transferring: .transferring
      case .stopping: .stopping
      case .paused: .paused
      case .noSpace: .noSpace
      case .ended: .ended
      }
  }
}

extension Wire.TransferResult {
  init(_ result: TransferResult) {
    self =
      switch result {
      case .done: .done
      case .failed: .failed
      case .cancelled: .cancelled
      case .expired: .expired
      }
  }
}

extension Wire.NetworkConstraint {
  init(_ constraint: NetworkConstraint) {
    self =
      switch constraint {
      case .none: .none
      case .any: .any
      case .unmetered: .unmetered
      case .wifi: .wifi
      }
  }
}

extension NetworkConstraint {
  init(_ constraint: Wire.NetworkConstraint) {
    self =
      switch constraint {
      case .none: .none
      case .any: .any
      case .unmetered: .unmetered
      case .wifi: .wifi
      }
  }
}
