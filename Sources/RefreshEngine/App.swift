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

  /// What its file asks for; nil when no file names it any more.
  var policy: Policy?
  var isForeground = false
  var isLoggedOut = false
  var overrides = Overrides()
  var lastStart: Instant?
  var freshAt: Instant?
  var request: Request?
  var activity = Activity.waiting
  var leases: [Lease] = []

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
  }

  /// What is saved.
  var state: AppState {
    AppState(
      isForeground: isForeground, isLoggedOut: isLoggedOut, overrides: overrides, lastStart: lastStart,
      freshAt: freshAt, request: request, running: started)
  }

  private var started: Started? {
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

  /// What the interval of the phase asks for: now if the app never ran, nil for `never`.
  func dueByTime(limits: Limits, at now: Instant) -> Instant? {
    spacing(in: phase, limits: limits).map { spacing in lastStart.map { $0 + spacing } ?? now }
  }

  /// What is due first, by request or by time; nil when nothing ever is.
  ///
  /// A request by time stands in for the instant that the interval would give: that is how a backlog is spread.
  func due(limits: Limits, at now: Instant) -> Request? {
    if let request, request.trigger.isByTime { return request }
    guard let earliest = dueByTime(limits: limits, at: now) else { return request }
    guard let request, request.earliest <= max(earliest, now) else {
      return Request(trigger: .interval, earliest: earliest)
    }
    return request
  }

  /// Asks for a refresh beside what is asked for already: one refresh serves both, at the earlier instant.
  ///
  /// What outlives a change of phase stands before what does not, so that it is not dropped with it. An app that is
  /// logged out is not asked.
  mutating func ask(_ trigger: Trigger, at instant: Instant) {
    guard !isLoggedOut else { return }
    guard let asked = request else {
      request = Request(trigger: trigger, earliest: instant)
      return
    }
    request = Request(
      trigger: asked.trigger.endsWithPhase ? trigger : asked.trigger, earliest: min(asked.earliest, instant))
  }
}

extension Trigger {
  /// Whether the clock asks, rather than something that happened.
  var isByTime: Bool { self == .interval || self == .catchUp }

  /// Whether a request of this kind means nothing any more once the app is in another phase.
  var endsWithPhase: Bool { isByTime || self == .foreground }
}
