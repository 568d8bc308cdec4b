/// An app in the engine's memory: the saved state, and the parts that end with the daemon.
struct App: Sendable {
  /// A signal that is undone when the connection that holds it ends.
  struct Lease: Hashable, Sendable {
    var id: LeaseID
    var signal: Signal
  }

  /// Its name.
  let id: AppID
  /// The part that is saved.
  var state: AppState
  /// The policy of the app's file, which apps with equal policies share; nil when no file names the app any more.
  var sharedPolicy: Boxed<Policy>?
  private var boxedRefresh: Boxed<Refreshing>?
  /// Whether a process of the app serves its refreshes.
  var isAttached = false
  /// Whether the next slice of planning must plan this app again.
  var needsPlan = false
  /// Whether a signal has set the phase since a desktop last saw the app start.
  ///
  /// If so, what desktops show is ignored.
  var isPhaseReported = false
  /// The app as the desktops of its owner show it.
  var presence = Presence.unknown
  /// The leases of open connections.
  var leases: [Lease] = []
  /// When a desktop first showed the app in front, boot clock, until that counts as an opening.
  var openedAt: Instant?
  /// Whether the history has an opening that goes on.
  var isOpen = false
  /// Whether calls wait for the app's next refresh.
  var hasCallers = false
  /// Whether the user came to the app while a retry was pending: the retry then counts as a foreground refresh.
  var isRetryForUser = false
  /// The changes in its watched folders that no refresh has followed.
  var change: LocalChange?
  /// Until when a change in its watched folders counts as the work of its own process, boot clock.
  var writesUntil: Instant?
  /// The conditions of the app's own that a command has been asked about.
  var questions: [Constraint: ConditionQuestion] = [:]
  /// The pushes that wait for the app, in the order in which they came.
  var pushes: [Push] = []
  /// The sessions of transfers whose end is to be delivered, in the order in which they ended.
  var drained: [DrainedSession] = []
  /// How often ended sessions have woken the app.
  var wakeLimit = WakeLimit()
  /// How many refreshes in a row the machine had no means to start.
  var failedStarts: Int32 = 0
  /// How many refreshes in a row the activated app left before it took them.
  var notTaken: Int32 = 0
  /// When a failed refresh of which another task found new data last began, boot clock.
  var newsAt: Instant?
  /// The present work of its guard; nil for an app without a guard, and before the guard has done anything.
  var guarding: Guarding?

  /// Makes an app from a saved state; an app that a signal put into the foreground is still open.
  init(_ id: AppID, state: AppState = AppState()) {
    (self.id, self.state) = (id, state)
    if state.isForeground, !state.isLoggedOut { isOpen = true }
  }

  /// The policy of the app's file; nil when no file names the app any more.
  var policy: Policy? { sharedPolicy?.value }

  /// Whether neither time nor a person may start a refresh: the app is logged out, or the user has disabled it.
  var isOff: Bool { state.isLoggedOut || state.isDisabled }

  /// The refresh whose processes are running; its start is part of the saved state.
  var refreshing: Refreshing? {
    get { boxedRefresh?.value }
    set {
      boxedRefresh = newValue.map(Boxed.init)
      state.running = newValue?.started
    }
  }

  /// The refresh that was running when the previous daemon ended, until the first configuration resolves it.
  var lost: Started? { boxedRefresh == nil ? state.running : nil }

  var phase: Phase {
    if state.isLoggedOut { return .loggedOut }
    return isReportedForeground || isShownInFront ? .foreground : .background
  }

  /// Whether signals or leases say that the user looks at the app.
  var isReportedForeground: Bool { state.isForeground || leases.contains { $0.signal == .foreground } }

  /// Whether a desktop shows the app in front, and neither the app nor a person has reported the phase.
  private var isShownInFront: Bool { presence == .front && !isPhaseReported }

  /// Whether a refresh may run under any conditions: a person forced it, or the transfers that it reports have arrived.
  ///
  /// Long work that reports transfers must wait for the conditions all the same.
  func needsNothing(for trigger: Trigger) -> Bool {
    switch trigger {
    case .manual: refreshing?.started.isForced ?? state.isForced
    case .transfer: reportsSession && policy?.isProcessing != true
    default: false
    }
  }

  /// Whether the running refresh reports an ended session of transfers; without one, whether the next refresh would.
  ///
  /// The trigger alone is not enough: a caller may give `transfer` as the reason for any refresh.
  private var reportsSession: Bool { refreshing.map { $0.started.session != nil } ?? (nextDrained != nil) }
}

/// The part of an app's data that outlives the daemon and the boot; the store saves exactly this.
///
/// Leases are not part of the state: each ends with the connection that holds it.
public struct AppState: Hashable, Sendable {
  /// When the last refresh started, from which the next one counts; nil before the first.
  public var lastStart: Instant?
  /// When the last refresh that did not fail started: the age of the data; nil before the first.
  public var freshAt: Instant?
  /// When the first configuration named the app, boot clock; until there is data, its age counts from here.
  public var seenAt: Instant?
  /// When the plan schedules the next background refresh, boot clock; nil without a plan.
  public var planned: Instant?
  /// The refresh that is asked for.
  public var request: Request?
  /// The holds that keep the app from starting, and since when, while it is due and held.
  public var waiting: Waiting?
  /// The refresh that is running, if one is.
  public var running: Started?
  /// Intervals set at run time.
  public var overrides: Overrides
  /// How many refreshes in a row have failed and are worth a retry.
  public var failures: Int32 = 0
  /// Whether the last unleased signal of `foreground` and `background` was `foreground`.
  public var isForeground: Bool
  /// Whether the app is logged out.
  ///
  /// `logout` and `login` leave ``isForeground`` as it is.
  public var isLoggedOut: Bool
  /// Whether the user has disabled the app.
  public var isDisabled = false
  /// Whether the user has ended the app and has not started it since: no push wakes such an app.
  public var isTerminated = false
  /// Whether the daemon has reported that the data is older than the app's ``Policy/staleAfter``.
  public var isStaleReported = false
  /// Whether the sessions last said that the app's owner is there; nil if they never did.
  public var isOwnerPresent: Bool?

  /// Nothing starts by time before this instant, because the user skipped a refresh; nil when none was skipped.
  public var skippedUntil: Instant?
  /// Whether all refreshes by time are skipped until ``skippedUntil``, and not only the next one.
  public var skipsAll = false
  /// When the last refreshes overran their deadline, oldest first, three at most, boot clock.
  public var strikes: [Instant] = []
  /// Until when a server promises that there is nothing newer, boot clock; nil without a promise.
  ///
  /// After a failed refresh: until when its server asked for no further request.
  public var freshUntil: Instant?
  /// When the last pushes woke the app, oldest first, boot clock: the instants that the push limit counts.
  public var pushedAt: [Instant] = []
  /// The time for which a due refresh has been held; only for an app with ``Policy/heldFor``.
  public var episode: HeldEpisode?
  /// The unit that a keeper has stopped or frozen and is to return, until the boot ends; nil for none.
  public var keptUnit: String?
  /// The streak of failed refreshes; nil while the last refresh did not fail.
  public var streak: FailureStreak?
  /// Whether a process of the app served its refreshes when the daemon ended.
  public var wasAttached = false
  /// Whether the next manual refresh is asked for against the app's constraints.
  public var isForced = false
  /// A refresh that was asked for at a later time.
  public var oneShot: OneShot?

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

  /// Moves the instants of the state, as the store does after a reboot.
  ///
  /// - Parameters:
  ///   - change: changes an instant that normally lies in the past.
  ///   - ahead: changes an instant that the user, a request, a plan or a server has set in the future.
  /// - Returns: the state with the moved instants.
  public func moved(_ change: (Instant) -> Instant, ahead: (Instant) -> Instant) -> AppState {
    var state = self
    state.lastStart = lastStart.map(change)
    state.freshAt = freshAt.map(change)
    state.request?.earliest.move(ahead)
    state.running?.at.move(change)
    state.seenAt = seenAt.map(change)
    state.waiting?.since.move(change)
    if !strikes.isEmpty { state.strikes = strikes.map(change) }
    if !pushedAt.isEmpty { state.pushedAt = pushedAt.map(change) }
    if let skippedUntil { state.skippedUntil = ahead(skippedUntil) }
    state.planned = planned.map(ahead)
    if let oneShot { state.oneShot = OneShot(earliest: ahead(oneShot.earliest), reason: oneShot.reason) }
    if let freshUntil { state.freshUntil = ahead(freshUntil) }
    if let episode { state.episode?.since = change(episode.since) }
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
