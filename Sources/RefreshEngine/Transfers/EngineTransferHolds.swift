// What keeps transfers from running.

extension Engine {
  /// The judgement about one transfer at one instant, boot clock; nil for one that is not there.
  public func transferVerdict(on id: TransferID, at now: Instant) -> TransferVerdict? {
    guard let state = transfers[id] else { return nil }
    switch state.stage {
    case .transferring: return .transferring
    case .stopping(let reason): return .stopping(reason)
    case .paused: return .paused
    case .noSpace(let needed): return .noSpace(needed: needed)
    case .ended(let result, _): return .ended(result)
    case .waiting(let from):
      let holds = lastingHolds(on: state.policy, at: now)
      if !holds.isEmpty { return .held(holds) }
      if from > now { return .notDue(until: from) }
      return hasTransferPlace(with: state.policy.host) ? .ready : .held([.concurrency])
    }
  }

  /// What keeps a transfer from running, due or not, places apart.
  func lastingHolds(on policy: TransferPolicy, at now: Instant) -> [Hold] {
    guard let app = apps[policy.app] else { return [.notConfigured] }
    var holds = lastingHolds(on: app)
    if let pause = device.pause { holds.append(.paused(pause)) }
    if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
    if !isNetworkMet(for: policy) { holds.append(.constraint(.network, relaxedAt: nil)) }
    return holds
  }

  /// Why a transfer that runs may not go on; nil when it may.
  ///
  /// A network that nobody has told of yet is not lost.
  func reasonToStop(_ state: TransferState, at now: Instant) -> TransferStop? {
    if isStopping { return .shutdown }
    if isSuspending { return .sleep }
    guard let app = apps[state.policy.app], app.policy != nil, !app.isDisabled, device.pause == nil else {
      return .user
    }
    if app.isLoggedOut { return .loggedOut }
    return conditions.network.isAwaited || isNetworkMet(for: state.policy) ? nil : .network
  }

  /// Whether one more transfer with a server may run, as far as places go.
  func hasTransferPlace(with host: String) -> Bool {
    transfers.given.count < limits.transfers.maxConcurrent
      && transfers.givenOfHost[host, default: 0] < limits.transfers.maxPerHost
  }

  private func isNetworkMet(for policy: TransferPolicy) -> Bool {
    guard policy.network != .none else { return true }
    var constraints = Constraints()
    constraints.network = policy.network
    return isNetworkMet(constraints)
  }
}

extension Hold {
  /// When time alone lifts it, boot clock; nil when it never does.
  var liftedAt: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .paused(.until(let until)): until
    case .constraint(_, let relaxedAt): relaxedAt
    default: nil
    }
  }
}

/// How many transfers may run beside those that do: so many in all, so many with each server (FEATURES F7).
struct TransferPlaces {
  private var count: Int
  private var ofHost: [String: Int]
  /// The servers that are waited for and have a place.
  private var openHosts: Set<String>
  private let limits: TransferLimits

  init(given queue: TransferQueue, limits: TransferLimits) {
    (count, ofHost) = (queue.given.count, queue.givenOfHost)
    openHosts = Set(queue.waitingOfHost.keys.filter { queue.givenOfHost[$0, default: 0] < limits.maxPerHost })
    self.limits = limits
  }

  /// Whether one more of those that wait may run.
  var hasAny: Bool { count < limits.maxConcurrent && !openHosts.isEmpty }

  /// Takes a place, if there is one.
  mutating func take(with host: String) -> Bool {
    guard hasAny, ofHost[host, default: 0] < limits.maxPerHost else { return false }
    count += 1
    ofHost[host, default: 0] += 1
    if ofHost[host, default: 0] >= limits.maxPerHost { openHosts.remove(host) }
    return true
  }
}
