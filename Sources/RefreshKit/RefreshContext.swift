import Synchronization

/// One refresh, as its handler sees it.
public struct RefreshContext: Sendable {
  /// Which refresh it is, as in `refreshctl history`: `12-345`.
  public let id: String
  /// Why it starts.
  public let trigger: RefreshTrigger
  /// What the trigger brought; nil unless ``trigger`` is `push` or `transfer`.
  ///
  /// For `push` the JSON text of the push, as it was sent; for `transfer` a line of JSON for each transfer of the
  /// session.
  public let payload: String?
  /// The `content-id` of the push, a number as text; nil unless ``trigger`` is `push`, and for a push without one.
  public let contentID: String?
  /// The session whose transfers have ended; nil unless ``trigger`` is `transfer`.
  public let session: String?
  let expiration: Expiration

  init(_ order: Serving.Order) {
    id = order.id
    trigger = order.trigger
    payload = order.payload
    contentID = order.contentID
    session = order.session
    expiration = Expiration(deadline: order.deadline)
  }

  /// When the daemon stops it, unless it does so sooner for another reason.
  ///
  /// On a clock that counts the time a machine sleeps and never steps. It may come nearer while the handler runs: a
  /// machine that goes to sleep leaves 5 s at most.
  public var deadline: ContinuousClock.Instant { expiration.deadline }

  /// How long is left until the deadline; zero when it has passed.
  public var timeRemaining: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

  /// Runs `action` once, when the refresh is about to be stopped.
  ///
  /// That is 5 s before the deadline, or when the daemon stops the refresh sooner; at once if it has come to that
  /// already. An app whose deadline is 5 s or less hears of it only when it is stopped. Use it to keep what is done so
  /// far; soon after, the handler's task is cancelled.
  ///
  /// The action must not block: it runs on the client's thread, or on the caller's if it runs at once. None begins
  /// after the handler has returned, but one that has begun may end after that.
  public func onExpiration(_ action: @escaping @Sendable () -> Void) {
    expiration.add(action)
  }
}

/// The deadline of one refresh, and the actions that wait for its expiration.
final class Expiration: Sendable {
  private struct State {
    var deadline: ContinuousClock.Instant
    var stage = Stage.ahead([])
  }

  private enum Stage {
    case ahead([@Sendable () -> Void])
    case expired
    case over
  }

  private let state: Mutex<State>

  init(deadline: ContinuousClock.Instant) {
    state = Mutex(State(deadline: deadline))
  }

  var deadline: ContinuousClock.Instant { state.withLock(\.deadline) }

  func add(_ action: @escaping @Sendable () -> Void) {
    let runsNow = state.withLock { state in
      switch state.stage {
      case .ahead(let actions):
        state.stage = .ahead(actions + [action])
        return false
      case .expired: return true
      case .over: return false
      }
    }
    if runsNow { action() }
  }

  /// Runs what waits, with this deadline from now on if there is one; a second time nothing does.
  func expire(deadline: ContinuousClock.Instant?) {
    let actions = state.withLock { state in
      if let deadline { state.deadline = deadline }
      guard case .ahead(let actions) = state.stage else { return [@Sendable () -> Void]() }
      state.stage = .expired
      return actions
    }
    for action in actions { action() }
  }

  /// The handler has returned.
  func end() {
    state.withLock { $0.stage = .over }
  }
}
