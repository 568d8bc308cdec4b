/// When the next refresh of an app may start, how long that may wait to share a wake, and what asks for it.
struct Due: Hashable, Sendable {
  var trigger: Trigger
  /// The first instant, boot clock.
  var earliest: Instant
  /// The last instant by itself, boot clock; a hold may make it later.
  var latest: Instant

  /// A refresh that does not wait to share a wake.
  init(_ trigger: Trigger, at instant: Instant) {
    (self.trigger, earliest, latest) = (trigger, instant, instant)
  }

  /// Puts a due push or ended session before every other request but a manual one.
  fileprivate static func news(_ trigger: Trigger, at earliest: Instant?, before asked: Due?, _ now: Instant) -> Due? {
    guard let earliest else { return asked }
    guard var asked, asked.earliest <= max(earliest, now) else { return Due(trigger, at: earliest) }
    if earliest <= now, asked.trigger != .manual { return Due(trigger, at: earliest) }
    asked.latest = min(asked.latest, max(earliest, asked.earliest))
    return asked
  }
}

extension App {
  /// Until when a server said that there is nothing newer, boot clock; nil when none did.
  var promisedUntil: Instant? { state.failures == 0 ? state.freshUntil : nil }

  /// Until when a server that failed asked not to be asked again by time, boot clock; nil when none did.
  ///
  /// The interval is no reason to ask earlier, and neither is the age of the data.
  var refusedUntil: Instant? { state.failures > 0 ? state.freshUntil : nil }

  /// When the interval of the phase is over: now if the app never ran, nil for `never`.
  func dueByTime(limits: Limits, at now: Instant) -> Instant? {
    guard let spacing = spacing(in: phase, limits: limits) else { return nil }
    var due = state.lastStart.map { $0 + spacing } ?? now
    if let skippedUntil = state.skippedUntil { due = max(due, skippedUntil) }
    if let refusedUntil { due = max(due, refusedUntil) }
    if let promisedUntil, let lastStart = state.lastStart {
      due = max(due, min(promisedUntil, lastStart + maxStale))
    }
    guard phase == .background, let lastStart = state.lastStart else { return due }
    if let planned = plannedInForce { due = max(due, planned - planWindow.part(of: 8)) }
    if let rest = restsUntil, rest > now { due = max(due, min(rest, lastStart + maxStale)) }
    return due
  }

  /// The refresh that is due first, by request or by time; nil when none ever is.
  ///
  /// A request by time replaces the instant that the interval would give: so a backlog is spread.
  ///
  /// An ended session of transfers comes before everything but a manual refresh; a push comes next.
  ///
  /// - Parameter push: when a push may wake the app, boot clock; nil when none does.
  func due(limits: Limits, spread: Spread, of id: AppID, push: Instant?, at now: Instant) -> Due? {
    let asked = dueApartFromNews(limits: limits, spread: spread, of: id, at: now)
    let pushed = Due.news(.push, at: push, before: asked, now)
    return Due.news(.transfer, at: nextDrained?.earliest, before: pushed, now)
  }

  /// The ended session that the app is told of next; nil when there is none.
  var nextDrained: DrainedSession? { drained.min { $0.earliest < $1.earliest } }

  private func dueApartFromNews(limits: Limits, spread: Spread, of id: AppID, at now: Instant) -> Due? {
    let asked = dueApartFromOneShot(limits: limits, spread: spread, of: id, at: now)
    guard let oneShot = state.oneShot else { return asked }
    guard var asked, asked.earliest <= oneShot.earliest else { return Due(.manual, at: oneShot.earliest) }
    // A due one-shot counts as manual and outranks triggers that can be held.
    if oneShot.earliest <= now, asked.trigger != .manual { return Due(.manual, at: oneShot.earliest) }
    asked.latest = min(asked.latest, oneShot.earliest)
    return asked
  }

  private func dueApartFromOneShot(limits: Limits, spread: Spread, of id: AppID, at now: Instant) -> Due? {
    let asked = dueApartFromChange(limits: limits, spread: spread, of: id, at: now)
    guard let change = dueByChange(limits: limits, at: now) else { return asked }
    // A refresh that is due anyway serves the change too, and waits to share a wake no longer than the change would.
    guard var asked, asked.earliest <= max(change, now) else { return Due(.change, at: change) }
    asked.latest = min(asked.latest, max(change, asked.earliest))
    return asked
  }

  private func dueApartFromChange(limits: Limits, spread: Spread, of id: AppID, at now: Instant) -> Due? {
    if let request = state.request, request.trigger.isByTime {
      let earliest = max(request.earliest, state.skippedUntil ?? request.earliest)
      return Due(request.trigger, at: max(earliest, refusedUntil ?? earliest))
    }
    guard let earliest = dueByTime(limits: limits, at: now) else {
      return state.request.map { due(by: $0, at: now) }
    }
    guard let asked = state.request.map({ due(by: $0, at: now) }), asked.earliest <= max(earliest, now) else {
      var due = Due(.interval, at: earliest)
      due.latest = earliest + slack(limits: limits, spread: spread, of: id)
      return due
    }
    return asked
  }

  /// The refresh that a request asks for: a retry that the user waits for counts as a foreground refresh, and every other
  /// one waits until refreshes by time are skipped no more.
  private func due(by request: Request, at now: Instant) -> Due {
    guard request.trigger == .retry else { return Due(request.trigger, at: request.earliest) }
    if isRetryForUser { return Due(.foreground, at: request.earliest) }
    return Due(.retry, at: max(request.earliest, skipsAllUntil(at: now) ?? request.earliest))
  }
}
