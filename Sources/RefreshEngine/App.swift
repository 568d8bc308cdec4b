/// A policy that apps have together, because most fleets have few and a policy is larger than the rest of an app.
final class SharedPolicy: Sendable {
  let policy: Policy

  init(_ policy: Policy) { self.policy = policy }
}

/// An app as the engine holds it in memory; ``AppState`` is what of it is saved.
struct App: Sendable {
  /// What the app is doing.
  enum Activity: Hashable, Sendable {
    /// No refresh is running.
    case waiting
    /// A refresh was running when the daemon before this one went down.
    case lost(Started)
    /// A refresh is running.
    /// Boxed, because most apps wait most of the time.
    indirect case refreshing(Refreshing)
  }

  /// A signal that is undone when the connection that holds it ends.
  struct Lease: Hashable, Sendable {
    var id: LeaseID
    var signal: Signal
  }

  /// What few apps have.
  private struct Rare: Hashable, Sendable {
    var overrides = Overrides()
    var freshUntil: Instant?
    var drained: [DrainedSession] = []
    var pushes: [Push] = []
    var pushedAt: [Instant] = []
  }

  private indirect enum Boxed: Hashable, Sendable {
    case holding(Rare)

    var value: Rare {
      switch self {
      case .holding(let value): value
      }
    }
  }

  /// What its file asks for; nil when no file names it any more.
  var policy: Policy? { shared?.policy }
  /// The policy, of which apps that ask for the same have one.
  var shared: SharedPolicy?
  // A flag after an optional instant takes no room of its own.
  var lastStart: Instant?
  var isForeground = false
  var isLoggedOut = false
  var isDisabled = false
  /// Whether the user has ended it, and it has not been started since.
  var isTerminated = false
  /// Whether a process of the app serves its refreshes.
  var isAttached = false
  var freshAt: Instant?
  var isStaleTold = false
  /// Whether the plan is to be made anew with the next slice of such work.
  var needsPlan = false
  var planned: Instant?
  var failures: Int32 = 0
  var seenAt: Instant?
  var skippedUntil: Instant?
  var request: Request?
  var activity = Activity.waiting
  var leases: [Lease] = []
  var strikes: [Instant] = []
  var oneShot: OneShot?
  /// Whether the user came to the app while a retry was pending, which is for the foreground while the user stays.
  var isRetryAwaited = false
  var waiting: Waiting?
  /// Intervals that were set at run time.
  var overrides: Overrides {
    get { rare?.value.overrides ?? Overrides() }
    set { change { $0.overrides = newValue } }
  }
  /// Until when a server said that there is nothing newer.
  var freshUntil: Instant? {
    get { rare?.value.freshUntil }
    set { change { $0.freshUntil = newValue } }
  }
  /// The sessions of transfers of whose end the app is to be told, in the order in which they ended.
  var drained: [DrainedSession] {
    get { rare?.value.drained ?? [] }
    set { change { $0.drained = newValue } }
  }
  /// The pushes of which the app is to be told, in the order in which they came.
  var pushes: [Push] {
    get { rare?.value.pushes ?? [] }
    set { change { $0.pushes = newValue } }
  }
  /// When the last pushes woke it, oldest first, boot clock.
  var pushedAt: [Instant] {
    get { rare?.value.pushedAt ?? [] }
    set { change { $0.pushedAt = newValue } }
  }
  /// Boxed, because few apps have any of it.
  private var rare: Boxed?

  private mutating func change(_ change: (inout Rare) -> Void) {
    var value = rare?.value ?? Rare()
    change(&value)
    rare = value == Rare() ? nil : .holding(value)
  }

  init() {}

  /// Takes up what the daemon before this one saved.
  init(restoring state: AppState) {
    isForeground = state.isForeground
    isLoggedOut = state.isLoggedOut
    overrides = state.overrides
    lastStart = state.lastStart
    freshAt = state.freshAt
    request = state.request
    activity = state.running.map(Activity.lost) ?? .waiting
    seenAt = state.seenAt
    isDisabled = state.isDisabled
    skippedUntil = state.skippedUntil
    failures = state.failures
    strikes = state.strikes
    oneShot = state.oneShot
    isStaleTold = state.isStaleTold
    waiting = state.waiting
    planned = state.planned
    freshUntil = state.freshUntil
    isTerminated = state.isTerminated
    if !state.pushedAt.isEmpty { pushedAt = state.pushedAt }
  }

  /// What is saved.
  var state: AppState {
    var state = AppState(
      isForeground: isForeground, isLoggedOut: isLoggedOut, overrides: overrides, lastStart: lastStart,
      freshAt: freshAt, request: request, running: started)
    state.seenAt = seenAt
    state.isDisabled = isDisabled
    state.skippedUntil = skippedUntil
    state.failures = failures
    state.strikes = strikes
    state.oneShot = oneShot
    state.isStaleTold = isStaleTold
    state.waiting = waiting
    state.planned = planned
    state.freshUntil = freshUntil
    state.isTerminated = isTerminated
    state.pushedAt = pushedAt
    return state
  }

  /// Whether neither time nor a person may start it: logged out, or disabled by the user.
  var isOff: Bool { isLoggedOut || isDisabled }

  /// Whether a refresh may run whatever the conditions are: what was moved for the app is here.
  ///
  /// Long work stays out of the user's way all the same.
  func needsNothing(for trigger: Trigger) -> Bool { trigger == .transfer && policy?.isProcessing != true }

  /// The refresh that is running, or that the daemon before this one lost.
  var started: Started? {
    switch activity {
    case .waiting: nil
    case .lost(let started): started
    case .refreshing(let refreshing): refreshing.started
    }
  }

  var refreshing: Refreshing? {
    if case .refreshing(let refreshing) = activity { refreshing } else { nil }
  }

  var phase: Phase {
    if isLoggedOut { return .loggedOut }
    return isForeground || leases.contains { $0.signal == .foreground } ? .foreground : .background
  }

  /// The interval in force in a phase, run-time overrides before the file; nil where none applies.
  func interval(in phase: Phase) -> Interval? {
    guard let policy else { return nil }
    return switch phase {
    case .foreground: overrides.foregroundInterval ?? policy.foregroundInterval
    case .background: overrides.backgroundInterval ?? policy.backgroundInterval
    case .loggedOut: nil
    }
  }

  /// The least time between two starts in the phase: the interval, not below the floor; nil for `never`.
  func spacing(in phase: Phase, limits: Limits) -> Duration? {
    let floor = phase == .foreground ? limits.foregroundFloor : limits.backgroundFloor
    return switch interval(in: phase) {
    case nil, .never: nil
    case .minimum: floor
    case .every(let duration): max(duration, floor)
    }
  }

  /// Asks for a refresh beside what is asked for already: one refresh serves both, at the earlier instant.
  ///
  /// What outlives a change of phase stands before what does not, so that it is not dropped with it; what somebody
  /// waits for stands before what may be put off, and a person's word before all. An app that is off is not asked.
  mutating func ask(_ trigger: Trigger, at instant: Instant) {
    guard !isOff else { return }
    guard let asked = request else {
      request = Request(trigger: trigger, earliest: instant)
      return
    }
    if trigger == .foreground, asked.trigger == .retry { isRetryAwaited = true }
    let isStronger = asked.trigger.endsWithPhase || trigger == .manual || trigger.isAwaited && !asked.trigger.isAwaited
    request = Request(trigger: isStronger ? trigger : asked.trigger, earliest: min(asked.earliest, instant))
  }

  /// Has a retry that is asked for wait as long as the newest failure says.
  mutating func delayRetry(until instant: Instant) {
    guard let asked = request, asked.trigger == .retry else { return }
    request?.earliest = max(asked.earliest, instant)
  }
}

extension Trigger {
  /// Whether the clock asks, rather than something that happened.
  var isByTime: Bool { self == .interval || self == .catchUp }

  /// Whether somebody waits for what it starts, whatever becomes of the phase.
  var isAwaited: Bool { self == .manual || self == .push || self == .transfer }

  /// Whether nobody waits for what it starts: it may wait for a better time.
  var isDeferrable: Bool { isByTime || self == .retry }

  /// Whether a request of this kind means nothing any more once the app is in another phase.
  var endsWithPhase: Bool { isByTime || self == .foreground }
}
