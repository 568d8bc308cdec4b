/// Decides how a refresh runs in the handler: one refresh at a time, with at most one completion each.
///
/// A pure value without task or clock; ``RefreshClient`` performs its effects.
///
/// ```
/// idle    -> serving   performed
/// serving -> idle      returned
/// ```
struct Serving: Sendable {
  /// A refresh that the daemon hands to this process.
  struct Order: Hashable, Sendable {
    let id: String
    let token: String
    let trigger: RefreshTrigger
    let payload: String?
    let contentID: String?
    let session: String?
    var tries: Int?
    let deadline: ContinuousClock.Instant
  }

  /// The state of the refresh in the handler.
  enum Standing: Hashable, Sendable {
    case wanted
    /// The handler was warned that the deadline is near.
    case expiring
    /// The handler's task is cancelled; the daemon still waits for its completion.
    case cancelled
    /// The connection of the refresh is gone, so no completion is sent.
    case lost
  }

  enum State: Hashable, Sendable {
    case idle
    case serving(Order, Standing)
  }

  enum Event: Hashable, Sendable {
    case performed(Order)
    /// The refresh is stopped at this instant, maybe sooner than in the order; nil if the daemon does not say when.
    case expiring(id: String, deadline: ContinuousClock.Instant?)
    case cancelled(id: String)
    case disconnected
    /// The handler has returned from this refresh.
    case returned(id: String, Completion)
    case timePassed
  }

  enum Effect: Hashable, Sendable {
    case start(Order)
    /// Warns the handler that the deadline is near; `deadline` is nil if it has not changed.
    case expire(deadline: ContinuousClock.Instant?)
    case cancel
    case complete(token: String, Completion)
  }

  private(set) var state = State.idle

  /// How long after the deadline the client itself stops the handler, if the daemon has not.
  ///
  /// If the client stopped it sooner, the daemon would see a failure of the handler instead of a missed deadline.
  private static let leeway = Duration.seconds(1)

  /// When ``Event/timePassed`` is due: at a deadline that the daemon does not enforce, because it hangs.
  var wake: ContinuousClock.Instant? {
    switch state {
    case .serving(let order, .wanted), .serving(let order, .expiring): order.deadline + Self.leeway
    case .idle, .serving: nil
    }
  }

  /// Whether the handler still works on a refresh that the daemon has given up.
  ///
  /// Such a client must not attach: the daemon would send it the next refresh, which it could not start.
  var isOccupied: Bool {
    if case .serving(_, .lost) = state { true } else { false }
  }

  mutating func handle(_ event: Event, at now: ContinuousClock.Instant) -> [Effect] {
    switch (state, event) {
    case (.idle, .performed(let order)):
      state = .serving(order, .wanted)
      return [.start(order)]
    case (.serving, .performed(let order)):
      // The daemon sends one refresh at a time. A second one is refused, so that the handler never runs twice at once.
      return [.complete(token: order.token, .busy)]
    case (.serving(let order, .wanted), .expiring(let id, let deadline)) where id == order.id:
      state = .serving(order, .expiring)
      return [.expire(deadline: deadline)]
    case (.serving(let order, let standing), .cancelled(let id)) where id == order.id && !standing.isStopped:
      state = .serving(order, .cancelled)
      return [.expire(deadline: nil), .cancel]
    case (.serving(let order, let standing), .disconnected):
      state = .serving(order, .lost)
      return standing.isStopped ? [] : [.expire(deadline: nil), .cancel]
    case (.serving(let order, let standing), .returned(let id, let completion)) where id == order.id:
      state = .idle
      return standing == .lost ? [] : [.complete(token: order.token, completion)]
    case (.serving(let order, let standing), .timePassed)
    where now >= order.deadline + Self.leeway && !standing.isStopped:
      state = .serving(order, .cancelled)
      return [.expire(deadline: nil), .cancel]
    case (.idle, _), (.serving, _): return []
    }
  }
}

extension Serving.Standing {
  /// Whether the handler's task is cancelled already.
  fileprivate var isStopped: Bool { self == .cancelled || self == .lost }
}

/// The report to the daemon after the handler has returned.
struct Completion: Hashable, Sendable {
  let outcome: RefreshOutcome
  let message: String?
  let retryAfter: Duration?

  /// The handler works on another refresh.
  static let busy = Completion(
    outcome: .failed, message: "the handler has not returned from the previous refresh", retryAfter: nil)

  init(_ result: RefreshResult) {
    self.init(outcome: result.outcome, message: result.message, retryAfter: nil)
  }

  /// Converts an error of the handler.
  init(_ error: any Error) {
    switch error {
    case let error as RetryLater: self.init(outcome: .failed, message: error.description, retryAfter: error.pause)
    case is CancellationError: self.init(outcome: .failed, message: "stopped before it was done", retryAfter: nil)
    default: self.init(outcome: .failed, message: String(describing: error), retryAfter: nil)
    }
  }

  private init(outcome: RefreshOutcome, message: String?, retryAfter: Duration?) {
    self.outcome = outcome
    self.message = message.map { String($0.unicodeScalars.prefix(Self.messageBound)) }
    self.retryAfter = retryAfter
  }

  /// The daemon keeps 200 bytes, which hold at most 200 code points; an error may print a whole document.
  private static let messageBound = 200
}
