/// When the next refresh of an app may start, how long that may wait for company, and what asks for it.
struct Due: Hashable, Sendable {
  var trigger: Trigger
  /// The first instant, boot clock.
  var earliest: Instant
  /// The last instant by itself, boot clock; a hold may make it later.
  var latest: Instant

  /// One that waits for nobody.
  init(_ trigger: Trigger, at instant: Instant) {
    (self.trigger, earliest, latest) = (trigger, instant, instant)
  }

  /// Puts what the app is to be told, once its time has come, before all that is asked for but a person's word.
  fileprivate static func news(_ trigger: Trigger, at earliest: Instant?, before asked: Due?, _ now: Instant) -> Due? {
    guard let earliest else { return asked }
    guard var asked, asked.earliest <= max(earliest, now) else { return Due(trigger, at: earliest) }
    if earliest <= now, asked.trigger != .manual { return Due(trigger, at: earliest) }
    asked.latest = min(asked.latest, max(earliest, asked.earliest))
    return asked
  }
}

extension App {
  /// How many overruns of the deadline within ``strikeSpan`` make an app rest for as long (FEATURES C7).
  static let strikesToRest = 3
  static let strikeSpan = Duration.hours(24)
  /// The window of a background refresh is this part of its interval, and never more than this (FEATURES A5).
  ///
  /// The least of 1 min that A5 names follows from the default floor; with a floor that the administrator has lowered, a
  /// minute would be longer than some intervals.
  static let windowPart: Int64 = 10
  static let longestWindow = Duration.minutes(15)

  /// What the interval of the phase asks for: now if the app never ran, nil for `never`.
  func dueByTime(limits: Limits, at now: Instant) -> Instant? {
    guard let spacing = spacing(in: phase, limits: limits) else { return nil }
    var due = state.lastStart.map { $0 + spacing } ?? now
    if let skippedUntil = state.skippedUntil { due = max(due, skippedUntil) }
    if let freshUntil = state.freshUntil, let lastStart = state.lastStart {
      due = max(due, min(freshUntil, lastStart + maxStale))
    }
    guard phase == .background, let lastStart = state.lastStart else { return due }
    if let planned = plannedInForce { due = max(due, planned - planWindow.part(of: 8)) }
    if let rest = restsUntil, rest > now { due = max(due, min(rest, lastStart + maxStale)) }
    return due
  }

  /// What the plan asks for, with the ceiling over it; nil for an app that is not planned.
  var plannedInForce: Instant? {
    guard policy?.isAdaptive == true, let planned = state.planned, let lastStart = state.lastStart else { return nil }
    return min(planned, lastStart + maxStale)
  }

  /// How long a planned refresh may wait for company: a tenth of its wait, an eighth of that before the planned moment.
  private var planWindow: Duration {
    guard let planned = plannedInForce, let lastStart = state.lastStart else { return .zero }
    return min(Self.longestWindow, max(.zero, lastStart.duration(to: planned)).part(of: Self.windowPart))
  }

  /// What is due first, by request or by time; nil when nothing ever is.
  ///
  /// A request by time stands in for the instant that the interval would give: that is how a backlog is spread.
  ///
  /// A session of transfers that has ended stands before all but a person's word.
  /// After it stands a push.
  ///
  /// - Parameter push: when a push may wake the app, boot clock; nil when none does.
  func due(limits: Limits, spread: Spread, of id: AppID, push: Instant?, at now: Instant) -> Due? {
    let asked = dueApartFromNews(limits: limits, spread: spread, of: id, at: now)
    let pushed = Due.news(.push, at: push, before: asked, now)
    return Due.news(.transfer, at: nextDrained?.earliest, before: pushed, now)
  }

  /// The session of whose end the app is told next; nil when there is none.
  var nextDrained: DrainedSession? { drained.min { $0.earliest < $1.earliest } }

  private func dueApartFromNews(limits: Limits, spread: Spread, of id: AppID, at now: Instant) -> Due? {
    let asked = dueApartFromOneShot(limits: limits, spread: spread, of: id, at: now)
    guard let oneShot = state.oneShot else { return asked }
    guard var asked, asked.earliest <= oneShot.earliest else { return Due(.manual, at: oneShot.earliest) }
    // Once its time has come it stands before what may be held where a person's word is not.
    if oneShot.earliest <= now, asked.trigger != .manual { return Due(.manual, at: oneShot.earliest) }
    asked.latest = min(asked.latest, oneShot.earliest)
    return asked
  }

  private func dueApartFromOneShot(limits: Limits, spread: Spread, of id: AppID, at now: Instant) -> Due? {
    if let request = state.request, request.trigger.isByTime { return Due(request.trigger, at: request.earliest) }
    guard let earliest = dueByTime(limits: limits, at: now) else {
      return state.request.map { due(by: $0) }
    }
    guard let request = state.request, request.earliest <= max(earliest, now) else {
      var due = Due(.interval, at: earliest)
      due.latest = earliest + slack(limits: limits, spread: spread, of: id)
      return due
    }
    return due(by: request)
  }

  /// What a request asks for: a retry that the user waits for is no longer one that may be put off.
  private func due(by request: Request) -> Due {
    Due(request.trigger == .retry && isRetryAwaited ? .foreground : request.trigger, at: request.earliest)
  }

  /// How long a background refresh may wait for company: half of its window, and up to the other half by its spread.
  private func slack(limits: Limits, spread: Spread, of id: AppID) -> Duration {
    guard phase == .background, state.lastStart != nil else { return .zero }
    guard let spacing = spacing(in: .background, limits: limits) else { return .zero }
    let half = max(min(Self.longestWindow, spacing.part(of: Self.windowPart)), planWindow).part(of: 2)
    return half + spread.offset(of: id, within: half)
  }

  /// Until when the app rests after overrunning its deadline again and again; nil while it does not.
  var restsUntil: Instant? {
    guard state.strikes.count >= Self.strikesToRest, let first = state.strikes.first,
      let last = state.strikes.last
    else { return nil }
    return first.duration(to: last) <= Self.strikeSpan ? last + Self.strikeSpan : nil
  }
}
