/// The next refresh of an app: why it starts, and when.
public struct Due: Hashable, Sendable {
  /// The reason.
  public var trigger: Trigger
  /// From the earliest start to the latest start without a hold, boot clock; between them it waits to share a wake.
  public var window: Window

  /// Makes a refresh that does not wait to share a wake.
  init(_ trigger: Trigger, at instant: Instant) {
    (self.trigger, window) = (trigger, Window(earliest: instant, latest: instant))
  }
}

/// Finds the next refresh of an app among all that ask for one.
///
/// If several are due, the first by rank starts. If none is due, the earliest starts, or the one added first.
private struct NextDue {
  let now: Instant
  private var first: (due: Due, rank: Rank)?

  init(at now: Instant) { self.now = now }

  /// Who comes first when several are due.
  ///
  /// A change of a watched folder comes last, because each refresh serves it.
  enum Rank: Comparable {
    case manual, session, push, request, interval, change
  }

  /// The next refresh; nil if nothing asks for one.
  var due: Due? { first?.due }

  /// Adds a reason; an interval that starts before it does not wait longer than this to share a wake.
  mutating func add(_ due: Due, _ rank: Rank) {
    guard let first else { return self.first = (due, rank) }
    if isBefore(due, rank, first.due, first.rank) {
      self.first = (due, rank)
    } else {
      let earliest = first.due.window.earliest
      self.first?.due.window.latest = min(first.due.window.latest, max(due.window.earliest, earliest))
    }
  }

  private func isBefore(_ due: Due, _ rank: Rank, _ other: Due, _ otherRank: Rank) -> Bool {
    switch (due.window.earliest <= now, other.window.earliest <= now) {
    case (true, false): true
    case (false, true): false
    case (true, true) where rank != otherRank: rank < otherRank
    default: due.window.earliest < other.window.earliest
    }
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

  /// The next refresh, due or to come; nil if nothing asks for one.
  ///
  /// A request by time replaces the end of the interval; this spreads a backlog. `push` is when a push may wake the app,
  /// boot clock; nil if none does.
  func due(limits: Limits, spread: Spread, of id: AppID, push: Instant?, at now: Instant) -> Due? {
    var next = NextDue(at: now)
    let request = state.request.map { due(by: $0, at: now) }
    if let request { next.add(request, request.trigger == .manual ? .manual : .request) }
    if request?.trigger.isByTime != true, let earliest = dueByTime(limits: limits, at: now) {
      var interval = Due(.interval, at: earliest)
      interval.window.latest = earliest + slack(limits: limits, spread: spread, of: id)
      next.add(interval, .interval)
    }
    if let change = dueByChange(limits: limits, at: now) { next.add(Due(.change, at: change), .change) }
    if let oneShot = state.oneShot { next.add(Due(.manual, at: oneShot.earliest), .manual) }
    if let push { next.add(Due(.push, at: push), .push) }
    if let session = wakesForSessionAt { next.add(Due(.transfer, at: session), .session) }
    return next.due
  }

  /// The refresh for a request: a retry that the user waits for counts as a foreground refresh, any other retry waits until
  /// refreshes by time are skipped no more.
  private func due(by request: Request, at now: Instant) -> Due {
    if request.trigger.isByTime {
      let earliest = max(request.earliest, state.skippedUntil ?? request.earliest)
      return Due(request.trigger, at: max(earliest, refusedUntil ?? earliest))
    }
    guard request.trigger == .retry else { return Due(request.trigger, at: request.earliest) }
    if isRetryForUser { return Due(.foreground, at: request.earliest) }
    return Due(.retry, at: max(request.earliest, skipsAllUntil(at: now) ?? request.earliest))
  }
}
