/// The part of an app's data that outlives the daemon and the boot; the store saves exactly this.
///
/// Leases are not part of the state: each ends with the connection that holds it.
public struct AppState: Hashable, Sendable {
  /// Fields that few apps use; boxed together, so that the other apps pay for one pointer only.
  private struct Rare: Hashable, Sendable {
    var overrides = Overrides()
    var freshUntil: Instant?
    var pushedAt: [Instant] = []
    var oneShot: OneShot?
  }

  // The flags follow an optional instant, where they fit into its padding.

  /// When the last refresh started, the anchor of the next one; nil before the first.
  public var lastStart: Instant?
  /// Whether the last unleased signal of `foreground` and `background` was `foreground`.
  public var isForeground: Bool
  /// Whether the app is logged out.
  ///
  /// ``isForeground`` keeps its value meanwhile, for the `login` that may come.
  public var isLoggedOut: Bool
  /// Whether the user has disabled the app.
  public var isDisabled = false
  /// Whether the user has ended the app and has not started it since: no push wakes such an app.
  public var isTerminated = false
  /// Whether the daemon has reported that the data is older than the app's ``Policy/staleAfter``.
  public var isStaleReported = false
  /// How many refreshes in a row have failed in a way that is worth a retry.
  public var failures: Int32 = 0
  /// When the last refresh that did not fail started: the age of the data; nil before the first.
  public var freshAt: Instant?
  /// The refresh that is asked for.
  public var request: Request?
  /// The refresh that is running, if one is.
  public var running: Started?
  /// When the first configuration named the app, boot clock: the age counts from here while there is no data.
  public var seenAt: Instant?
  /// Nothing starts by time before this instant, because the user skipped a refresh; nil when none was skipped.
  public var skippedUntil: Instant?
  /// When the last refreshes overran their deadline, oldest first, three at most, boot clock.
  public var strikes: [Instant] = []
  /// The holds that keep the app from starting, and since when, while it is due and held.
  public var waiting: Waiting?
  /// When the plan has the next background refresh, boot clock; nil while there is no plan.
  public var planned: Instant?
  private var rare: Boxed<Rare>?

  /// Intervals set at run time.
  public var overrides: Overrides {
    get { rare?.value.overrides ?? Overrides() }
    set { change { $0.overrides = newValue } }
  }
  /// Until when a server said that there is nothing newer, boot clock; nil when none did.
  ///
  /// While the last refresh has failed, until when its server asked not to be asked again.
  public var freshUntil: Instant? {
    get { rare?.value.freshUntil }
    set { change { $0.freshUntil = newValue } }
  }
  /// When the last pushes woke the app, oldest first, boot clock: the instants that the push limit counts.
  public var pushedAt: [Instant] {
    get { rare?.value.pushedAt ?? [] }
    set { change { $0.pushedAt = newValue } }
  }

  /// A refresh that was asked for at a later time.
  public var oneShot: OneShot? {
    get { rare?.value.oneShot }
    set { change { $0.oneShot = newValue } }
  }

  private mutating func change(_ change: (inout Rare) -> Void) {
    var value = rare?.value ?? Rare()
    change(&value)
    rare = value == Rare() ? nil : .holding(value)
  }

  /// The state of an app that is configured for the first time.
  public init(
    isForeground: Bool = false, isLoggedOut: Bool = false, overrides: Overrides = Overrides(),
    lastStart: Instant? = nil, freshAt: Instant? = nil, request: Request? = nil, running: Started? = nil
  ) {
    self.isForeground = isForeground
    self.isLoggedOut = isLoggedOut
    self.lastStart = lastStart
    self.freshAt = freshAt
    self.request = request
    self.running = running
    self.overrides = overrides
  }

  /// The state with its instants changed, as the store does after a reboot.
  ///
  /// - Parameters:
  ///   - change: what becomes of an instant that lies in the past when all is well.
  ///   - ahead: what becomes of an instant that the user, a plan or a server has set in the future.
  public func moved(_ change: (Instant) -> Instant, ahead: (Instant) -> Instant) -> AppState {
    var state = self
    state.lastStart = lastStart.map(change)
    state.freshAt = freshAt.map(change)
    state.request?.earliest.move(change)
    state.running?.at.move(change)
    state.seenAt = seenAt.map(change)
    state.strikes = strikes.map(change)
    state.waiting?.since.move(change)
    if !pushedAt.isEmpty { state.pushedAt = pushedAt.map(change) }
    state.skippedUntil = skippedUntil.map(ahead)
    state.planned = planned.map(ahead)
    if let oneShot { state.oneShot = OneShot(earliest: ahead(oneShot.earliest), reason: oneShot.reason) }
    if let freshUntil { state.freshUntil = ahead(freshUntil) }
    return state
  }
}

extension AppState {
  /// The instants that may lie ahead of a restored state, apart from the plan, which nearly every app has.
  var instantsAhead: [Instant] {
    [request?.earliest, skippedUntil, oneShot?.earliest, freshUntil].compactMap(\.self)
  }
}

extension Instant {
  fileprivate mutating func move(_ change: (Instant) -> Instant) { self = change(self) }
}
