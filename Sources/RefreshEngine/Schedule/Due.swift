/// The due time of an app's next refresh, its latest start to share a wake, and its trigger.
struct Due: Hashable, Sendable {
  var trigger: Trigger
  /// The earliest start, boot clock.
  var earliest: Instant
  /// The latest start without a hold, boot clock.
  var latest: Instant

  /// Makes a refresh that does not wait to share a wake.
  init(_ trigger: Trigger, at instant: Instant) {
    (self.trigger, earliest, latest) = (trigger, instant, instant)
  }

  /// Puts a due push or ended session before every request but a manual request.
  fileprivate static func news(_ trigger: Trigger, at earliest: Instant?, before asked: Due?, _ now: Instant) -> Due? {
    guard let earliest else { return asked }
    guard var asked, asked.earliest <= max(earliest, now) else { return Due(trigger, at: earliest) }
    if earliest <= now, asked.trigger != .manual { return Due(trigger, at: earliest) }
    asked.latest = min(asked.latest, max(earliest, asked.earliest))
    return asked
  }
}

extension App {
  /// Until when a server promised that there is nothing newer, boot clock; nil without a promise.
  var promisedUntil: Instant? { state.failures == 0 ? state.freshUntil : nil }

  /// Until when a failed server asked for no refresh by time, boot clock; nil if it did not.
  ///
  /// Neither the interval nor the age of the data starts a refresh earlier.
  var refusedUntil: Instant? { state.failures > 0 ? state.freshUntil : nil }

  /// When the interval of the phase ends: now if the app never ran, nil for `never`.
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

  /// The next due refresh, by request or by time; nil if there is none.
  ///
  /// A request by time replaces the end of the interval; this spreads a backlog.
  ///
  /// An ended session of transfers comes before everything but a manual refresh; a push comes next.
  ///
  /// `push` is when a push may wake the app, boot clock; nil if none does.
  func due(limits: Limits, spread: Spread, of id: AppID, push: Instant?, at now: Instant) -> Due? {
    let asked = dueApartFromNews(limits: limits, spread: spread, of: id, at: now)
    let pushed = Due.news(.push, at: push, before: asked, now)
    return Due.news(.transfer, at: wakesForSessionAt, before: pushed, now)
  }

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
    // A refresh that is due anyway serves the change too, and waits no longer to share a wake than the change would.
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

  /// The refresh for a request: a retry that the user waits for counts as a foreground refresh, any other retry waits until
  /// refreshes by time are skipped no more.
  private func due(by request: Request, at now: Instant) -> Due {
    guard request.trigger == .retry else { return Due(request.trigger, at: request.earliest) }
    if isRetryForUser { return Due(.foreground, at: request.earliest) }
    return Due(.retry, at: max(request.earliest, skipsAllUntil(at: now) ?? request.earliest))
  }
}
