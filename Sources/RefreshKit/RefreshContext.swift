import Synchronization

/// One refresh, as its handler sees it.
public struct RefreshContext: Sendable {
  /// Which refresh it is, as in `refreshctl history`: `12-345`.
  public let id: String
  /// Why it starts.
  public let trigger: RefreshTrigger
  /// What a push brought; nil if nothing did.
  public let payload: String?
  /// The session whose transfers have ended; nil unless ``trigger`` is `transfer`.
  public let session: String?
  /// When the daemon stops it.
  ///
  /// On a clock that counts the time a machine sleeps and never steps.
  public let deadline: ContinuousClock.Instant
  let expiration = Expiration()

  init(_ order: Serving.Order) {
    id = order.id
    trigger = order.trigger
    payload = order.payload
    session = order.session
    deadline = order.deadline
  }

  /// How long is left until the deadline; zero when it has passed.
  public var timeRemaining: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

  /// Runs `action` once, when the refresh is about to be stopped.
  ///
  /// That is a few seconds before the deadline, or when the daemon stops the refresh sooner; at once if it has come to
  /// that already. Use it to keep what is done so far; soon after, the handler's task is cancelled. The action runs on
  /// a thread of the client and must not block. It does not run after the handler has returned.
  public func onExpiration(_ action: @escaping @Sendable () -> Void) {
    expiration.add(action)
  }
}

/// The actions of one refresh that wait for its expiration.
final class Expiration: Sendable {
  private enum State {
    case ahead([@Sendable () -> Void])
    case expired
    case over
  }

  private let state = Mutex(State.ahead([]))

  func add(_ action: @escaping @Sendable () -> Void) {
    let runsNow = state.withLock { state in
      switch state {
      case .ahead(let actions):
        state = .ahead(actions + [action])
        return false
      case .expired: return true
      case .over: return false
      }
    }
    if runsNow { action() }
  }

  /// Runs what waits; a second time nothing does.
  func expire() {
    let actions = state.withLock { state in
      guard case .ahead(let actions) = state else { return [@Sendable () -> Void]() }
      state = .expired
      return actions
    }
    for action in actions { action() }
  }

  /// The handler has returned.
  func end() {
    state.withLock { $0 = .over }
  }
}
