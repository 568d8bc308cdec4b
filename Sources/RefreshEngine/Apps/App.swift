/// An app in the engine's memory: the saved state, and the parts that end with the daemon.
struct App: Sendable {
  /// A signal that is undone when the connection that holds it ends.
  struct Lease: Hashable, Sendable {
    var id: LeaseID
    var signal: Signal
  }

  /// The part that is saved.
  var state: AppState
  /// The policy of the app's file, which apps with equal policies share; nil when no file names the app any more.
  var sharedPolicy: Boxed<Policy>?
  private var boxedRefresh: Boxed<Refreshing>?
  /// Whether a process of the app serves its refreshes.
  var isAttached = false
  /// Whether the next slice of planning must plan this app anew.
  var needsPlan = false
  /// Whether the app, or a person, has told the phase since the desktops saw it start: what they show does not count then.
  var tellsPhase = false
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
  init(state: AppState = AppState()) {
    self.state = state
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
    return isToldForeground || isShownInFront ? .foreground : .background
  }

  /// Whether signals or leases say that the user looks at the app.
  var isToldForeground: Bool { state.isForeground || leases.contains { $0.signal == .foreground } }

  /// Whether a desktop shows the app in front, and neither the app nor a person has told the phase.
  private var isShownInFront: Bool { presence == .front && !tellsPhase }

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
  /// The trigger alone does not tell: a caller may give `transfer` as the reason for any refresh.
  private var reportsSession: Bool { refreshing.map { $0.started.session != nil } ?? (nextDrained != nil) }
}
