import RefreshEngine

struct OneWorkerAtATime: Invariant {
  static let promise = "A transfer is given to a worker only while no worker has it."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .performed(.transfer(let id, _)) = observation else { return nil }
    return world.moving[id] == nil ? nil : "\(id) is given to a worker while one has it"
  }
}

struct TransfersWait: Invariant {
  static let promise = "No transfer runs that something holds, nor more than may run at once."
  private var given: [TransferID: TransferPolicy] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .daemonGone: given = [:]
    case .handled(let turn):
      guard let engine = world.brain?.engine else { return nil }
      switch turn.event {
      case .transferReported(let id, _), .transferFetched(let id): given[id] = nil
      default: break
      }
      for effect in turn.decision.effects {
        guard case .transfer(let id, _) = effect, let state = engine.transferState(of: id) else { continue }
        given[id] = state.policy
        if let hold = world.book.hold(on: state.policy, at: world.instant, isNew: true) {
          return "\(id) starts although \(hold)"
        }
        let limits = world.book.limits.transfers
        if given.count > limits.maxConcurrent { return "\(given.count) transfers run" }
        let beside = given.values.count { $0.host == state.policy.host }
        if beside > limits.maxPerHost { return "\(beside) transfers run with one server" }
      }
      for (id, policy) in given where engine.transferState(of: id)?.stage == .transferring {
        if let hold = world.book.hold(on: policy, at: world.instant, isNew: false) {
          return "\(id) goes on although \(hold)"
        }
      }
    default: break
    }
    return nil
  }
}

struct TransfersWake: Invariant {
  static let promise = "No transfer is left that may run, and the daemon is awake when one may be tried again."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let brain = world.brain else { return nil }
    if case .survived = turn.event { return nil }
    for id in brain.engine.transferIDs {
      switch brain.engine.transferVerdict(on: id, at: world.instant) {
      case .ready: return "\(id) is ready and was not started"
      case .notDue(let until):
        guard let wake = brain.nextWake, wake.latest <= until else { return "nothing wakes the daemon for \(id)" }
      default: break
      }
    }
    return nil
  }
}

struct TransfersEnd: Invariant {
  static let promise = "Every transfer that was saved ends, and is given up when its time is up, not before."
  private var saved: Set<TransferID> = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .saved(let batch):
      for (id, state) in batch.transfers where state != nil { saved.insert(id) }
    case .handled(let turn):
      for id in turn.decision.transfersChanged {
        guard let state = world.brain?.engine.transferState(of: id) else { continue }
        guard case .ended(.expired, world.instant) = state.stage else { continue }
        let age = state.policy.enqueuedAt.duration(to: world.instant)
        if age < world.book.limits.transfers.giveUp { return "\(id) is given up after \(age)" }
      }
    case .finished:
      for (id, state) in world.store.transfers.sorted(by: { $0.key < $1.key }) {
        guard let app = world.book.apps[state.policy.app], app.policy != nil, !app.isOff else { continue }
        guard case .ended = state.stage else { return "\(id) is \(state.stage) in the end" }
      }
    default: break
    }
    return nil
  }
}

struct SessionsAreTold: Invariant {
  static let promise =
    "When the last transfer of a session has ended, the app is woken for it, and once for each of them."
  /// The session or push that each started refresh reports.
  private var telling: [RefreshID: [TransferID]] = [:]
  private var told: Set<TransferID> = []
  private var transfers: [TransferID: TransferState] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .saved(let batch):
      for (id, state) in batch.transfers { transfers[id] = state ?? transfers[id] }
      for record in batch.records where !record.isCutShort && !record.outcome.isTemporary {
        for id in telling[record.id] ?? [] where !told.insert(id).inserted { return "\(id) is told twice" }
      }
    case .handled(let turn):
      guard let engine = world.brain?.engine else { return nil }
      for new in turn.decision.beginnings {
        guard let name = engine.started(of: new.id)?.session else { continue }
        let session = TransferSession(app: new.app, name: name)
        if !engine.isDrained(session) { return "\(new.app) is woken for \(name), which goes on" }
        telling[new.id] = engine.transferIDs.filter { id in
          engine.transferState(of: id)?.policy.session == session && !told.contains(id)
        }
      }
    case .finished:
      for (id, state) in transfers.sorted(by: { $0.key < $1.key }) where isOver(state) && !told.contains(id) {
        let app = state.policy.app
        guard let seen = world.book.apps[app], seen.policy != nil, !seen.isOff else { continue }
        return "\(app) is not told of \(id)"
      }
    default: break
    }
    return nil
  }

  private func isOver(_ state: TransferState) -> Bool {
    if case .ended = state.stage { true } else { false }
  }
}

extension Bystander {
  /// The hold on a transfer, in words; nil when there is none.
  ///
  /// A running transfer goes on while the network is unknown.
  func hold(on policy: TransferPolicy, at now: Instant, isNew: Bool) -> String? {
    guard let app = apps[policy.app], app.policy != nil else { return "its app is not configured" }
    if app.isOff { return "its app is off" }
    if isStopping { return "the daemon stops" }
    if isSuspending { return "the machine goes to sleep" }
    if pause != nil { return "all is paused" }
    if isNew, let settlingUntil, now < settlingUntil { return "the machine settles" }
    guard policy.network != .none else { return nil }
    if conditions.network.isAwaited { return isNew ? "nobody knows the network" : nil }
    guard let network = conditions.network.value else { return limits.unknownIsMet ? nil : "nobody knows the network" }
    if network.reach != .full { return "the network reaches nothing" }
    if policy.network == .unmetered, [.yes, .guessYes].contains(network.metered) { return "the network is metered" }
    return policy.network == .wifi && network.medium != .wifi ? "it is no Wi-Fi" : nil
  }
}
