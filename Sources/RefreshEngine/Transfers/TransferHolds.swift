// The holds of transfers.

extension Judge {
  /// Judges a transfer.
  func verdict(on state: TransferState, among queue: TransferQueue, _ apps: AppTable, at now: Instant)
    -> TransferVerdict
  {
    switch state.stage {
    case .transferring: return .transferring
    case .stopping(let reason): return .stopping(reason)
    case .paused: return .paused
    case .noSpace(let needed): return .noSpace(needed: needed)
    case .ended(let result, _): return .ended(result)
    case .waiting(let from):
      let (app, network) = (state.policy.app, state.policy.network)
      let holds = holds(onTransfersOf: app, among: apps, network: network, at: now)
      if !holds.isEmpty { return .held(holds) }
      if from > now { return .notDue(until: from) }
      let (slots, user) = (TransferSlots(given: queue, limits: limits.transfers), apps.owner(of: app))
      let isFirst = !queue.givenOfApp.keys.contains { apps.owner(of: $0) == user }
      return slots.has(state.policy.server, isFirst: isFirst) ? .ready : .held([.concurrency])
    }
  }

  /// The holds on an app's transfers with this network constraint, due or not, apart from slots.
  func holds(
    onTransfersOf id: AppID, among apps: AppTable, network: NetworkConstraint, at now: Instant
  ) -> [Hold] {
    guard let app = apps.index(of: id).map({ apps[$0] }) else { return [.notConfigured] }
    var holds = lastingHolds(on: app)
    if let pause { holds.append(.paused(pause)) }
    if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
    if !isMet(network) { holds.append(.constraint(.network, relaxedAt: nil)) }
    for fact in Constraint.facts where !isMet(fact, by: app, at: now) {
      holds.append(.constraint(fact, relaxedAt: nil))
    }
    return holds
  }

  /// Why a running transfer must stop; nil if it may go on.
  ///
  /// A condition without an answer yet does not stop it.
  func reasonToStop(_ state: TransferState, of app: App?) -> TransferStop? {
    if life.isStopping { return .shutdown }
    if life.isSuspending { return .sleep }
    guard let app, let policy = app.policy, !app.switches.isDisabled, pause == nil else { return .user }
    if app.visits.isLoggedOut { return .loggedOut }
    let constraints = policy.constraints
    let isLost = Constraint.facts.contains { conditions.fact($0, of: constraints).value?.isMet == false }
    if isLost { return .network }
    return conditions.network.isUnanswered || isMet(state.policy.network) ? nil : .network
  }
}
