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
        let (limits, apps) = (world.book.limits.transfers, world.book.apps)
        let owner = apps[state.policy.app]?.policy?.owner
        // The first of a user may be one more.
        let more = given.values.count { apps[$0.app]?.policy?.owner == owner } == 1 ? 1 : 0
        if given.count > limits.maxConcurrent + more { return "\(given.count) transfers run" }
        let beside = given.values.count { $0.host == state.policy.host }
        if beside > limits.maxPerHost + more { return "\(beside) transfers run with one server" }
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

struct UsersTakeTurns: Invariant {
  static let promise =
    "No transfer starts while one could of a user with fewer running, and slots are not kept for ever."
  private var given: [TransferID: AppID] = [:]
  /// The time since which a user waits for a slot while another user has more.
  private var since: Instant?

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let engine = world.brain?.engine else {
      if case .daemonGone = observation { (given, since) = ([:], nil) }
      return nil
    }
    given = given.filter { engine.transferState(of: $0.key).map { Self.isGiven($0.stage) } ?? false }
    if case .transferFetched(let id) = turn.event, engine.transferState(of: id)?.stage == .transferring {
      given[id] = nil
    }
    for case .transfer(let id, let app) in turn.decision.effects { given[id] = app }
    let owners = world.book.apps.mapValues { $0.policy?.owner }
    var running: [UInt32: Int] = [:]
    for app in given.values { if let owner = owners[app] ?? nil { running[owner, default: 0] += 1 } }
    let waiting = engine.transferIDs.compactMap { id -> Int? in
      guard let policy = engine.transferState(of: id)?.policy, let owner = owners[policy.app] ?? nil,
        case .held([.concurrency]) = engine.transferVerdict(on: id, at: world.instant),
        given.count >= world.book.limits.transfers.maxConcurrent,
        given.keys.count(where: { engine.transferState(of: $0)?.policy.host == policy.host })
          < world.book.limits.transfers.maxPerHost
      else { return nil }
      return running[owner] ?? 0
    }.min()
    for case .transfer(let id, let app) in turn.decision.effects {
      guard let owner = owners[app] ?? nil, let mine = running[owner], let waiting else { continue }
      if mine > waiting + 1 { return "\(id) starts as number \(mine) of its user, and one with \(waiting) waits" }
    }
    let isUnfair = waiting.map { fewest in running.values.contains { $0 >= fewest + 2 } } ?? false
    // Nothing is stopped for another user while the disk does not answer.
    since = isUnfair && !world.isDiskHanging ? since ?? world.instant : nil
    if let since, since.duration(to: world.instant) > .minutes(10) { return "a user waits for a slot since \(since)" }
    return nil
  }

  private static func isGiven(_ stage: TransferState.Stage) -> Bool {
    switch stage {
    case .transferring, .stopping: true
    case .waiting, .paused, .noSpace, .ended: false
    }
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
    case .saved(let changes):
      for id in changes.transfers where world.store.transfers[id] != nil { saved.insert(id) }
    case .handled(let turn):
      for id in turn.decision.changes.transfers {
        guard let state = world.brain?.engine.transferState(of: id) else { continue }
        guard case .ended(.expired, world.instant) = state.stage else { continue }
        let age = state.policy.enqueuedAt.duration(to: world.instant)
        // A restart treats future instants as now, also of transfers that had ended before.
        if age > .zero, age < world.book.limits.transfers.giveUp { return "\(id) is given up after \(age)" }
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
  /// The transfers that each started refresh reports.
  private var telling: [RefreshID: [TransferID]] = [:]
  private var told: Set<TransferID> = []
  private var transfers: [TransferID: TransferState] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .saved(let changes):
      for id in changes.transfers { transfers[id] = world.store.transfers[id] ?? transfers[id] }
      for record in changes.history.refreshes where record.hasTold {
        // A disk that does not answer saves the end of a refresh after the start of the next.
        for id in telling[record.id] ?? [] where !told.insert(id).inserted && !world.hangs {
          return "\(id) is told twice"
        }
      }
    case .handled(let turn):
      guard let engine = world.brain?.engine else { return nil }
      // The end of a refresh and the start of the next are saved together.
      let ending = Set(turn.decision.changes.history.refreshes.filter(\.hasTold).flatMap { telling[$0.id] ?? [] })
      for new in turn.decision.beginnings {
        guard let name = engine.started(of: new.id)?.session else { continue }
        let session = TransferSession(app: new.app, name: name)
        if !engine.isDrained(session) { return "\(new.app) is woken for \(name), which goes on" }
        telling[new.id] = engine.transferIDs.filter { id in
          engine.transferState(of: id)?.policy.session == session && !told.contains(id) && !ending.contains(id)
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

extension RefreshRecord {
  /// Whether the app received the report: the refresh ran to an end that is not retried.
  fileprivate var hasTold: Bool { !isCutShort && !outcome.isTemporary }
}

extension Bystander {
  /// The hold on a transfer, in words; nil when there is none.
  ///
  /// A running transfer goes on while the network is unknown.
  func hold(on policy: TransferPolicy, at now: Instant, isNew: Bool) -> String? {
    guard let app = apps[policy.app], app.policy != nil else { return "its app is not configured" }
    if app.policy?.unusable != nil { return "its file has a mistake" }
    if app.isOff { return "its app is off" }
    if isStopping { return "the daemon stops" }
    if isSuspending { return "the machine goes to sleep" }
    if pause != nil { return "all is paused" }
    if isNew, let settlingUntil, now < settlingUntil { return "the machine settles" }
    guard policy.network != .none else { return nil }
    if conditions.network.isUnanswered { return isNew ? "nobody knows the network" : nil }
    guard let network = conditions.network.value else { return limits.unknownIsMet ? nil : "nobody knows the network" }
    if network.reach != .full { return "the network reaches nothing" }
    if policy.network == .unmetered, [.yes, .guessYes].contains(network.metered) { return "the network is metered" }
    return policy.network == .wifi && network.medium != .wifi ? "it is no Wi-Fi" : nil
  }
}
