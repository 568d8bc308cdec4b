/// An app in the engine's memory: one value for each of its concerns, each with private state.
struct App: Sendable {
  /// Its name.
  let id: AppID
  /// The policy of the app's file, which apps with equal policies share; nil when no file names the app any more.
  private(set) var sharedPolicy: Boxed<Policy>?
  private var boxedRefresh: Boxed<Refreshing>?
  /// The start of the running refresh as it is saved, or of the lost refresh of the previous daemon.
  private(set) var started: Started?
  /// Whether a process of the app serves its refreshes.
  private(set) var isAttached = false
  /// Whether a process of the app served its refreshes when the daemon ended.
  private(set) var wasAttached: Bool

  /// Where the user looks.
  var visits: Visits
  /// The facts by which refreshes by time are scheduled.
  var timetable: Timetable
  /// What asks for the next refresh.
  var requests: Requests
  /// The user's switches.
  var switches: Switches
  /// The app's own conditions that commands answer.
  var questions = Questions()
  /// The pushes and ended transfer sessions that wait for the app.
  var mailbox: Mailbox
  /// The work of its guard.
  var guarding: Guarding
  /// Its reports about waits, old data and failures.
  var reports: Reports

  /// Makes an app from a saved state.
  init(_ id: AppID, restoring state: AppState = AppState()) {
    self.id = id
    (started, wasAttached) = (state.running, state.wasAttached)
    (visits, timetable) = (Visits(restoring: state), Timetable(restoring: state))
    (requests, switches) = (Requests(restoring: state), Switches(restoring: state))
    (mailbox, guarding) = (Mailbox(restoring: state), Guarding(restoring: state))
    reports = Reports(restoring: state)
  }

  /// Replaces the saved part; what ends with the daemon stays.
  mutating func restore(_ state: AppState) {
    (started, wasAttached) = (state.running, state.wasAttached)
    visits.restore(state)
    timetable.restore(state)
    requests.restore(state)
    switches.restore(state)
    mailbox.restore(state)
    guarding.restore(state)
    reports.restore(state)
  }

  /// The part that is saved.
  var saved: AppState {
    var state = AppState()
    (state.running, state.wasAttached) = (started, wasAttached)
    visits.save(in: &state)
    timetable.save(in: &state)
    requests.save(in: &state)
    switches.save(in: &state)
    mailbox.save(in: &state)
    guarding.save(in: &state)
    reports.save(in: &state)
    return state
  }

  /// The policy of the app's file; nil when no file names the app any more.
  var policy: Policy? { sharedPolicy?.value }

  /// Whether the app guards a unit instead of being refreshed.
  var isGuard: Bool { sharedPolicy?.value.guarded != nil }

  /// Puts a policy in force; nil if no file names the app any more.
  mutating func configure(_ policy: Boxed<Policy>?) { sharedPolicy = policy }

  /// Updates whether a process serves the refreshes.
  ///
  /// With `isRemembered`, the next daemon learns it from the store; returns true if that must be saved.
  mutating func attach(_ isAttached: Bool, isRemembered: Bool) -> Bool {
    self.isAttached = isAttached
    guard isRemembered, wasAttached != isAttached else { return false }
    wasAttached = isAttached
    return true
  }

  /// Forgets that a process served the refreshes before, because the app's commands serve one now.
  mutating func forgetAttached() { wasAttached = false }

  /// Whether neither time nor a person may start a refresh: the app is logged out, or the user has disabled it.
  var isOff: Bool { visits.isLoggedOut || switches.isDisabled }

  /// The phase of the app.
  var phase: Phase { visits.phase }

  /// The refresh whose processes are running; its start is part of the saved state.
  var refreshing: Refreshing? {
    get { boxedRefresh?.value }
    set { (boxedRefresh, started) = (newValue.map(Boxed.init), newValue?.started) }
  }

  /// The refresh that was running when the previous daemon ended, until the first configuration resolves it.
  var lost: Started? { boxedRefresh == nil ? started : nil }

  /// Requests a refresh; an app that is off takes no request.
  mutating func request(_ trigger: Trigger, at instant: Instant) {
    if !isOff { requests.add(trigger, at: instant) }
  }

  /// Drops the request; if calls wait for it, makes it a manual request instead.
  mutating func dropRequest(at now: Instant) { requests.drop(callersMayWait: !isOff && policy != nil, at: now) }

  /// Whether a refresh may run under any conditions: a person forced it, or the transfers that it reports have arrived.
  ///
  /// Long work that reports transfers must wait for the conditions all the same.
  func ignoresConditions(for trigger: Trigger) -> Bool {
    switch trigger {
    case .manual: refreshing?.started.isForced ?? requests.isForced
    case .transfer: reportsSession && policy?.isProcessing != true
    default: false
    }
  }

  /// Whether the running refresh reports an ended session of transfers; without one, whether the next refresh would.
  ///
  /// The trigger alone is not enough: a caller may give `transfer` as the reason for any refresh.
  private var reportsSession: Bool { refreshing.map { $0.started.session != nil } ?? (mailbox.nextDrained != nil) }
}

/// The part of an app's data that outlives the daemon and the boot; the store saves exactly this.
///
/// Leases are not part of the state: each ends with the connection that holds it.
public struct AppState: Hashable, Sendable {
  /// When the last refresh started, from which the next one counts; nil before the first.
  public var lastStart: Instant?
  /// The moment from which a fixed background interval counts, boot clock; nil without such an interval.
  public var grid: Instant?
  /// When the last refresh that did not fail started: the age of the data; nil before the first.
  public var freshAt: Instant?
  /// When the first configuration named the app, boot clock; until there is data, its age counts from here.
  public var seenAt: Instant?
  /// When the plan schedules the next background refresh, boot clock; nil without a plan.
  public var planned: Instant?
  /// The requested refresh.
  public var request: Request?
  /// The holds that keep the app from starting, and since when, while it is due and held.
  public var waiting: Waiting?
  /// The refresh that is running, if one is.
  public var running: Started?
  /// Intervals set at run time.
  public var overrides: Overrides
  /// How many refreshes in a row have failed and are worth a retry.
  public var failures: Int32 = 0
  /// Whether the last signal without a lease, of `foreground` and `background`, was `foreground`.
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
  /// Whether the app's owner was logged in at the sessions' last report; nil before the first.
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
  /// Whether the next manual refresh ignores the app's constraints.
  public var isForced = false
  /// A refresh that was requested for a later time.
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
    state.grid = grid.map(change)
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
