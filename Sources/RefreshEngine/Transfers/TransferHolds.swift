// The holds of transfers.

extension Engine {
  /// The judgement about a transfer at an instant, boot clock; nil for an unknown transfer.
  public func transferVerdict(on id: TransferID, at now: Instant) -> TransferVerdict? {
    guard let state = transfers[id] else { return nil }
    switch state.stage {
    case .transferring: return .transferring
    case .stopping(let reason): return .stopping(reason)
    case .paused: return .paused
    case .noSpace(let needed): return .noSpace(needed: needed)
    case .ended(let result, _): return .ended(result)
    case .waiting(let from):
      let holds = lastingHolds(on: state.policy.app, network: state.policy.network, at: now)
      if !holds.isEmpty { return .held(holds) }
      if from > now { return .notDue(until: from) }
      let (slots, user) = (TransferSlots(given: transfers, limits: limits.transfers), owner(of: state.policy.app))
      let isFirst = !transfers.givenOfApp.keys.contains { owner(of: $0) == user }
      return slots.has(state.policy.server, isFirst: isFirst) ? .ready : .held([.concurrency])
    }
  }

  /// The holds on an app's transfers with this network constraint, due or not, apart from slots.
  func lastingHolds(on id: AppID, network: NetworkConstraint, at now: Instant) -> [Hold] {
    guard let index = apps.index(of: id) else { return [.notConfigured] }
    var holds = lastingHolds(on: apps[index])
    if let pause = device.pause { holds.append(.paused(pause)) }
    if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
    if !isMet(network) { holds.append(.constraint(.network, relaxedAt: nil)) }
    for fact in Constraint.facts where !isMet(fact, by: apps[index], at: now) {
      holds.append(.constraint(fact, relaxedAt: nil))
    }
    return holds
  }

  /// Why a running transfer must stop; nil if it may go on.
  ///
  /// An unknown condition does not stop it.
  func reasonToStop(_ state: TransferState) -> TransferStop? {
    if isStopping { return .shutdown }
    if isSuspending { return .sleep }
    guard let index = apps.index(of: state.policy.app), let policy = apps[index].policy,
      !apps[index].state.isDisabled, device.pause == nil
    else { return .user }
    if apps[index].state.isLoggedOut { return .loggedOut }
    let constraints = policy.constraints
    let isLost = Constraint.facts.contains { conditions.fact($0, of: constraints).value?.isMet == false }
    if isLost { return .network }
    return conditions.network.isUnanswered || isMet(state.policy.network) ? nil : .network
  }

  private func isMet(_ network: NetworkConstraint) -> Bool {
    guard network != .none else { return true }
    var constraints = Constraints()
    constraints.network = network
    return isNetworkMet(constraints)
  }
}

extension Hold {
  /// When time alone lifts the hold, boot clock; nil if it never does.
  var liftedAt: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .unsteady(let until), .wakeLimit(let until),
      .paused(.until(let until)):
      until
    case .constraint(_, let relaxedAt): relaxedAt
    case .noPerformer(let until): until
    default: nil
    }
  }
}
