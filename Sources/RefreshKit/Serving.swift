/// Which refresh the handler is at, and what becomes of it: at most one at a time, and for each at most one completion.
///
/// A value without a task or a clock; ``RefreshClient`` does what it says.
///
/// ```
/// idle    -> serving   performed
/// serving -> idle      returned
/// ```
struct Serving: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// What the daemon asks for.
  struct Order: Hashable, Sendable {
    let id: String
    let token: String
    let trigger: RefreshTrigger
    let payload: String?
    let contentID: String?
    let session: String?
    let deadline: Instant
  }

  /// How the handler's refresh stands.
  enum Standing: Hashable, Sendable {
    case wanted
    /// The handler was told that the end is near.
    case expiring
    /// The handler's task is cancelled; the daemon still wants to hear when it has returned.
    case cancelled
    /// The connection that it came over is gone, and with it whoever wants to hear of it.
    case lost
  }

  enum State: Hashable, Sendable {
    case idle
    case serving(Order, Standing)
  }

  enum Event: Hashable, Sendable {
    case performed(Order)
    /// It is stopped at this instant, which may be sooner than the order said; nil if the daemon does not say when.
    case expiring(id: String, deadline: Instant?)
    case cancelled(id: String)
    case disconnected
    /// The handler has returned from this refresh.
    case returned(id: String, Completion)
    case timePassed
  }

  enum Effect: Hashable, Sendable {
    case start(Order)
    /// Tells the handler that the end is near, and when it is if that has changed.
    case expire(deadline: Instant?)
    case cancel
    case complete(token: String, Completion)
  }

  private(set) var state = State.idle

  /// How long after the deadline the handler is stopped without the daemon, which would have by then.
  ///
  /// A handler that is stopped before the daemon looks at its clock would be told as one that failed by itself.
  private static let leeway = Duration.seconds(1)

  /// When ``Event/timePassed`` is due: at a deadline that the daemon has not enforced, because it stands still.
  var wake: Instant? {
    switch state {
    case .serving(let order, .wanted), .serving(let order, .expiring): order.deadline + Self.leeway
    case .idle, .serving: nil
    }
  }

  /// Whether the handler is still at a refresh that nobody waits for any more.
  ///
  /// Who is, must not attach: the daemon would hand it the next refresh, which it could not begin.
  var isOccupied: Bool {
    if case .serving(_, .lost) = state { true } else { false }
  }

  mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
    switch (state, event) {
    case (.idle, .performed(let order)):
      state = .serving(order, .wanted)
      return [.start(order)]
    case (.serving, .performed(let order)):
      // The daemon hands out one after the other; whatever it says, the handler is never run twice at once.
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

/// What the daemon is told of a refresh when its handler has returned.
struct Completion: Hashable, Sendable {
  let outcome: RefreshOutcome
  let message: String?
  let retryAfter: Duration?

  /// The handler is at another refresh.
  static let busy = Completion(
    outcome: .failed, message: "the handler has not returned from the refresh before", retryAfter: nil)

  init(_ result: RefreshResult) {
    self.init(outcome: result.outcome, message: result.message, retryAfter: nil)
  }

  /// What a handler's error says.
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

  /// The daemon keeps 200 bytes of a message, which are in no more code points than that; an error may print a document.
  private static let messageBound = 200
}
