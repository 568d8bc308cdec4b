/// The engine's judgement about an app at an instant; nothing else judges.
///
/// The scheduler starts exactly the apps that are `ready`, and `refreshctl` prints the same value.
public enum Verdict: Hashable, Sendable {
  /// It starts now.
  case ready(Due)
  /// Its next refresh is not due yet.
  case notDue(Due)
  /// The holds that keep it from a refresh, however old its data is; `due` is nil if nothing asks for one.
  case held([Hold], due: Due? = nil)
  /// It guards a unit, and nothing keeps the unit from running.
  case clear
  /// It is being refreshed.
  case refreshing(RefreshID)
}

extension Verdict {
  /// The holds; empty without holds.
  public var holds: [Hold] { if case .held(let holds, _) = self { holds } else { [] } }

  /// The next refresh that the verdict is about; nil if nothing asks for one, for a guard, and while one runs.
  public var due: Due? {
    switch self {
    case .ready(let due), .notDue(let due): due
    case .held(_, let due): due
    case .clear, .refreshing: nil
    }
  }
}

extension App {
  /// The verdict while its next refresh is not due: the wake limit holds an ended session that would wake it now.
  func verdict(waitingFor due: Due, at now: Instant) -> Verdict {
    guard due.trigger == .transfer, let drained = mailbox.nextDrained, drained.earliest <= now else {
      return .notDue(due)
    }
    return .held([.wakeLimit(until: due.window.earliest)], due: due)
  }
}

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

  /// The order of those that are due together.
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
  /// Whether the background's fixed interval is in force.
  private var isOnGrid: Bool { if phase == .background, case .every? = backgroundInterval { true } else { false } }

  /// The fixed interval of the background; nil for none.
  func fixedInterval(limits: Limits) -> Duration? {
    guard case .every? = backgroundInterval else { return nil }
    return backgroundInterval?.spacing(floor: limits.backgroundFloor)
  }

  /// When the interval of the phase ends, boot clock; nil for `never`, and before the first start.
  func intervalEnd(limits: Limits) -> Instant? {
    guard let spacing = spacing(in: phase, limits: limits) else { return nil }
    return isOnGrid ? timetable.gridDue(every: spacing) : timetable.lastStart.map { $0 + spacing }
  }

  /// When the interval of the phase asks for a refresh: now if the app never ran, nil for `never`.
  func dueByTime(limits: Limits, at now: Instant) -> Instant? {
    guard spacing(in: phase, limits: limits) != nil else { return nil }
    var due = intervalEnd(limits: limits) ?? now
    if let skippedUntil = switches.skippedUntil { due = max(due, skippedUntil) }
    if let refusedUntil = timetable.refusedUntil { due = max(due, refusedUntil) }
    if let promisedUntil = timetable.promisedUntil, let lastStart = timetable.lastStart {
      due = max(due, min(promisedUntil, lastStart + maxStale))
    }
    guard phase == .background, let lastStart = timetable.lastStart else { return due }
    if let planned = plannedInForce { due = max(due, planned - planWindow.part(of: 8)) }
    if let rest = timetable.restsUntil, rest > now { due = max(due, min(rest, lastStart + maxStale)) }
    return due
  }

  /// The next refresh, due or to come; nil if nothing asks for one.
  ///
  /// A request by time replaces the end of the interval; this spreads a backlog. `push` is when a push may wake the app,
  /// boot clock; nil if none does.
  func due(limits: Limits, spread: Spread, push: Instant?, at now: Instant) -> Due? {
    var next = NextDue(at: now)
    let request = requests.pending.map { due(by: $0, at: now) }
    if let request { next.add(request, request.trigger == .manual ? .manual : .request) }
    if request?.trigger.isByTime != true, let earliest = dueByTime(limits: limits, at: now) {
      var interval = Due(.interval, at: earliest)
      interval.window.latest = earliest + slack(limits: limits, spread: spread)
      next.add(interval, .interval)
    }
    if let change = dueByChange(limits: limits, at: now) { next.add(Due(.change, at: change), .change) }
    if let oneShot = requests.oneShot { next.add(Due(.manual, at: oneShot.earliest), .manual) }
    if let push { next.add(Due(.push, at: push), .push) }
    if let session = mailbox.deliversSessionAt { next.add(Due(.transfer, at: session), .session) }
    return next.due
  }

  /// The refresh for a request: a retry that the user waits for counts as a foreground refresh, any other retry waits until
  /// refreshes by time are skipped no more.
  private func due(by request: Request, at now: Instant) -> Due {
    if request.trigger.isByTime {
      let earliest = max(request.earliest, switches.skippedUntil ?? request.earliest)
      return Due(request.trigger, at: max(earliest, timetable.refusedUntil ?? earliest))
    }
    guard request.trigger == .retry else { return Due(request.trigger, at: request.earliest) }
    if requests.isRetryForUser { return Due(.foreground, at: request.earliest) }
    return Due(.retry, at: max(request.earliest, switches.skipsAllUntil(at: now) ?? request.earliest))
  }
}

/// The window in which the daemon's one wake timer may go off.
public struct Window: Hashable, Sendable {
  /// The first instant with work, boot clock; it may have passed.
  public var earliest: Instant
  /// The last instant for the work, boot clock.
  ///
  /// The same as `earliest` while nothing may wait.
  public var latest: Instant

  /// Makes a window.
  public init(earliest: Instant, latest: Instant) {
    self.earliest = earliest
    self.latest = latest
  }

  /// Ends a window, if there is one, at an instant at the latest, so that its wake serves both.
  init(_ window: Window?, ending end: Instant) {
    self.init(earliest: min(window?.earliest ?? end, end), latest: min(window?.latest ?? end, end))
  }
}

extension App {
  /// The part of a background refresh's interval that is its window; ``longestWindow`` bounds it.
  ///
  /// Windows have no minimum: with a lowered floor, a minute would be longer than some intervals.
  private static let windowPart: Int64 = 10
  private static let longestWindow = Duration.minutes(15)

  /// How long a background refresh may wait to share a wake: half of its window, and up to the other half by its spread.
  ///
  /// A planned refresh is due an eighth of its window before the planned moment, so these parts are an eighth too.
  func slack(limits: Limits, spread: Spread) -> Duration {
    guard phase == .background, timetable.lastStart != nil else { return .zero }
    guard let spacing = spacing(in: .background, limits: limits) else { return .zero }
    // A plan chose a moment before the user comes, so the wait to share a wake must end before that.
    if let planned = plannedInForce, let lastStart = timetable.lastStart, planned > lastStart + spacing {
      let part = planWindow.part(of: 8)
      return part + spread.offset(of: id, within: part)
    }
    let half = max(min(Self.longestWindow, spacing.part(of: Self.windowPart)), planWindow).part(of: 2)
    return half + spread.offset(of: id, within: half)
  }

  /// How long a planned refresh may wait to share a wake: a tenth of its wait, and no longer than ``longestWindow``.
  var planWindow: Duration {
    guard let planned = plannedInForce, let lastStart = timetable.lastStart else { return .zero }
    return min(Self.longestWindow, max(.zero, lastStart.duration(to: planned)).part(of: Self.windowPart))
  }
}

extension App {
  /// How many intervals old data may be before a refresh waits for no better moment, by default.
  private static let intervalsToStale: Int64 = 3
  /// The ceiling of an app without background refreshes by time.
  private static let ceilingOfNever = Duration.hours(72)

  /// The least ceiling of a planned app, by default: the plan knows when the user comes, and an app that nobody opens may
  /// have data a day old.
  private static let leastOfPlanned = Duration.hours(24)

  /// The age of the data at which a refresh waits for no better moment.
  var maxStale: Duration {
    if let maxStale = policy?.maxStale { return maxStale }
    return switch backgroundInterval {
    case .every(let interval): interval.times(Self.intervalsToStale)
    case .auto(let floor): max(floor?.times(Self.intervalsToStale) ?? .zero, Self.leastOfPlanned)
    case .never, nil: Self.ceilingOfNever
    }
  }

  /// Whether a plan chooses the moments of background refreshes.
  var isPlanned: Bool { backgroundInterval?.isAuto == true }

  /// Whether refreshd learns its habits: its file or a person has its refreshes planned.
  var hasHabits: Bool { policy?.backgroundInterval.isAuto == true || isPlanned }

  /// The planned instant, bounded by the ceiling; nil if the app is not planned.
  var plannedInForce: Instant? {
    guard isPlanned, let planned = timetable.planned, let lastStart = timetable.lastStart else { return nil }
    return min(planned, lastStart + maxStale)
  }
}
