import Synchronization

/// A refresh that a handler performs.
public struct RefreshContext: Sendable {
  /// The id of the refresh, as in `refreshctl history`: `12-345`.
  public let id: String
  /// Why the refresh starts.
  public let trigger: RefreshTrigger
  /// The data that came with the trigger; nil unless ``trigger`` is `push` or `transfer`.
  ///
  /// For `push`, this is the JSON text of the push as it was sent. For `transfer`, this is a line of JSON for each
  /// transfer of the session.
  public let payload: String?
  /// The `content-id` of the push, a number as text; nil if ``trigger`` is not `push` or the push has none.
  public let contentID: String?
  /// The session whose transfers have ended; nil unless ``trigger`` is `transfer`.
  public let session: String?
  /// How often the app was woken for this end of the session, this time included; nil unless ``trigger`` is `transfer`.
  ///
  /// More than 1 if an earlier wake failed or was cut short, or if the daemon ended before it could save the wake.
  public let tries: Int?
  let expiration: Expiration

  init(_ order: Serving.Order) {
    id = order.id
    trigger = order.trigger
    payload = order.payload
    contentID = order.contentID
    session = order.session
    tries = order.tries
    expiration = Expiration(deadline: order.deadline)
  }

  /// When the daemon stops the refresh, unless another reason stops it sooner.
  ///
  /// The clock counts the time in which the machine sleeps, and never steps. The deadline may move nearer while the
  /// handler runs: when the machine is about to sleep, at most 5 s are left.
  public var deadline: ContinuousClock.Instant { expiration.deadline }

  /// The time until the deadline; zero after it.
  public var timeRemaining: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }

  /// Runs `action` once, shortly before the refresh is stopped.
  ///
  /// The action runs 5 s before the deadline, or when the daemon stops the refresh sooner. It runs at once if that time
  /// has passed already. With a deadline of 5 s or less, it runs only when the refresh is stopped. Save your progress
  /// in it, because the handler's task is cancelled soon after.
  ///
  /// The action must not block. It runs on the client's thread, or on the caller's thread if it runs at once. No action
  /// starts after the handler has returned, but a running action may finish later.
  public func onExpiration(_ action: @escaping @Sendable () -> Void) {
    expiration.add(action)
  }
}

/// The deadline of a refresh and the actions that run before it.
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

  /// Runs the waiting actions and stores a new deadline, if there is one; runs nothing the second time.
  func expire(deadline: ContinuousClock.Instant?) {
    let actions = state.withLock { state in
      if let deadline { state.deadline = deadline }
      guard case .ahead(let actions) = state.stage else { return [@Sendable () -> Void]() }
      state.stage = .expired
      return actions
    }
    for action in actions { action() }
  }

  /// Drops the actions, because the handler has returned.
  func end() {
    state.withLock { $0.stage = .over }
  }
}

/// The reason why a refresh starts.
public enum RefreshTrigger: Hashable, Sendable, CaseIterable {
  /// The interval of the phase has passed since the last start.
  case interval
  /// The app entered the foreground, and its data was older than the foreground interval.
  case foreground
  /// A push asked for the refresh.
  case push
  /// The last transfer of a session has ended.
  case transfer
  /// An earlier refresh failed and is retried.
  case retry
  /// The refresh was missed while the machine or the daemon was off.
  case catchUp
  /// Something changed in a folder that the app's file has watched.
  case change
  /// A person asked for the refresh.
  case manual
  /// No refresh started: the app reported a sync that it made by itself.
  case reported
  /// A newer refreshd sent a trigger that this library does not know.
  case other
}
