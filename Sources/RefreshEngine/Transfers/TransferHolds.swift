// The holds of transfers, and the sessions that wake apps.

extension Judge {
  /// The judgement about a transfer.
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
  /// An unknown condition does not stop it.
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

/// A session whose transfers have all ended, and whose end is not delivered to the app yet.
public struct DrainedSession: Hashable, Sendable {
  /// The session's name.
  public var name: String
  /// The earliest wake of the app, boot clock.
  public var earliest: Instant
}

/// How often ended sessions may wake an app: 20 times at once, and 30 times an hour in the long run.
///
/// An app that queues a transfer in each of its wakes would otherwise run without a pause.
struct WakeLimit: Hashable, Sendable {
  /// The wakes at once.
  static let burst = 20
  /// The time after which one more wake is free.
  static let spacing = Duration.minutes(2)

  /// When all wakes are free again, boot clock; nil if they are.
  private var emptyAt: Instant?

  /// When one more wake is free, boot clock; nil if it is now.
  var freeAt: Instant? { emptyAt.map { $0 - Self.spacing * (Self.burst - 1) } }

  /// Counts a wake.
  mutating func count(at now: Instant) { emptyAt = max(emptyAt ?? now, now) + Self.spacing }
}

extension App {
  /// The verdict while its next refresh is not due: the wake limit holds an ended session that would wake it now.
  func verdict(waitingFor due: Due, at now: Instant) -> Verdict {
    guard due.trigger == .transfer, let drained = mailbox.nextDrained, drained.earliest <= now else {
      return .notDue(due)
    }
    return .held([.wakeLimit(until: due.window.earliest)], due: due)
  }
}

extension RefreshRecord {
  /// Whether nothing of its tasks ran.
  var hasStartedNothing: Bool {
    !tasks.isEmpty
      && tasks.allSatisfy { task in
        switch task.outcome {
        case .failed(.spawn), .failed(.notRun): true
        default: false
        }
      }
  }

  /// Whether a person stopped it, directly or by the app's file.
  var isStoppedByPerson: Bool { [.user, .unconfigured, .logout].contains(stopReason) }
}
