/// The least time between two refreshes of an app in the foreground.
public enum Interval: Hashable, Sendable {
  /// No refresh by time in this phase; other triggers still work.
  case never
  /// As often as the limits allow: ``Limits/foregroundFloor``.
  case minimum
  /// This long after the last start, and never shorter than the floor.
  case every(Duration)
}

/// When an app is refreshed by time in the background.
public enum BackgroundInterval: Hashable, Sendable {
  /// No refresh by time; other triggers still work.
  case never
  /// At fixed distances, never shorter than ``Limits/backgroundFloor``.
  case every(Duration)
  /// When it pays, as learnt from the user's habits, and at least `floor` after the last start; nil for the limits' floor.
  case auto(floor: Duration? = nil)
}

extension BackgroundInterval {
  /// Whether learning plans the refreshes.
  public var isAuto: Bool { if case .auto = self { true } else { false } }

  /// The least time between two starts by time; nil for `never`.
  public func spacing(floor: Duration) -> Duration? {
    switch self {
    case .never: nil
    case .every(let duration): max(duration, floor)
    case .auto(let own): max(own ?? floor, floor)
    }
  }
}

extension Interval {
  /// Reads `never` or `minimum`; nil for any other text.
  public init?(word: String) {
    switch word {
    case "never": self = .never
    case "minimum": self = .minimum
    default: return nil
    }
  }

  /// The interval as `never`, `minimum` or the text of its duration.
  public func text(_ textOfDuration: (Duration) -> String) -> String {
    switch self {
    case .never: "never"
    case .minimum: "minimum"
    case .every(let duration): textOfDuration(duration)
    }
  }

  /// The least time between two starts: the interval, but not below the floor; nil for `never`.
  public func spacing(floor: Duration) -> Duration? {
    switch self {
    case .never: nil
    case .minimum: floor
    case .every(let duration): max(duration, floor)
    }
  }
}

extension App {
  /// The background interval in force: the override, else the file's; nil if no file names the app.
  var backgroundInterval: BackgroundInterval? {
    policy.map { timetable.overrides.backgroundInterval(over: $0.backgroundInterval) }
  }

  /// The least time between two starts in a phase: the interval, but not below the floor; nil for `never`.
  func spacing(in phase: Phase, limits: Limits) -> Duration? {
    switch phase {
    case .foreground:
      let interval = policy.map { timetable.overrides.foregroundInterval ?? $0.foregroundInterval }
      return interval?.spacing(floor: limits.foregroundFloor)
    case .background: return backgroundInterval?.spacing(floor: limits.backgroundFloor)
    case .loggedOut: return nil
    }
  }
}

/// Intervals set at run time, which take the place of the file's until they are reset.
public struct Overrides: Hashable, Sendable {
  /// In place of the file's foreground interval, if set.
  public var foregroundInterval: Interval?
  /// In place of the file's background interval, if set.
  public var backgroundInterval: BackgroundInterval?

  /// Makes overrides; nothing is overridden by default.
  public init(foregroundInterval: Interval? = nil, backgroundInterval: BackgroundInterval? = nil) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
  }

  /// The background interval in force: `auto` keeps the floor of the file's.
  public func backgroundInterval(over configured: BackgroundInterval) -> BackgroundInterval {
    guard let backgroundInterval else { return configured }
    return backgroundInterval.isAuto && configured.isAuto ? configured : backgroundInterval
  }
}

/// The facts by which an app's refreshes by time are scheduled.
struct Timetable: Hashable, Sendable {
  /// How many overruns of the deadline within ``strikeSpan`` make an app rest for as long.
  private static let strikesToRest = 3
  private static let strikeSpan = Duration.hours(24)

  /// When the last refresh started, from which the next one counts; nil before the first.
  private(set) var lastStart: Instant?
  /// When the last refresh that did not fail started: the age of the data; nil before the first.
  private(set) var freshAt: Instant?
  /// When the first configuration named the app, boot clock; until there is data, its age counts from here.
  private(set) var seenAt: Instant?
  /// When the plan schedules the next background refresh, boot clock; nil without a plan.
  private(set) var planned: Instant?
  /// Whether the next slice of planning must plan the app again.
  private(set) var needsPlan = false
  /// Intervals set at run time.
  private(set) var overrides = Overrides()
  /// How many refreshes in a row have failed and are worth a retry.
  private(set) var failures: Int32 = 0
  /// When the last refreshes overran their deadline, oldest first, three at most, boot clock.
  private var strikes: [Instant] = []
  /// Until when the server's last word holds, boot clock; nil without one.
  ///
  /// After a success it promises that there is nothing newer; after a failure it asks for no further request.
  private var freshUntil: Instant?
  /// The moment from which the fixed interval of the background counts, boot clock: the last that was due.
  private var grid: Instant?
  /// How many refreshes in a row could not start for lack of processes or memory.
  private(set) var failedStarts: Int32 = 0
  /// How often in a row the activated app quit before it took its refresh.
  private(set) var notTaken: Int32 = 0
  /// When the last refresh began that failed although one of its tasks found new data, boot clock.
  private(set) var newsAt: Instant?

  /// Makes it from the saved part.
  init(restoring state: AppState) { restore(state) }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) {
    (lastStart, freshAt, seenAt, planned) = (state.lastStart, state.freshAt, state.seenAt, state.planned)
    (overrides, failures, strikes, freshUntil) = (state.overrides, state.failures, state.strikes, state.freshUntil)
    grid = state.grid
  }

  /// Writes the saved part.
  func save(in state: inout AppState) {
    (state.lastStart, state.freshAt, state.seenAt, state.planned) = (lastStart, freshAt, seenAt, planned)
    (state.overrides, state.failures, state.strikes, state.freshUntil) = (overrides, failures, strikes, freshUntil)
    state.grid = grid
  }

  /// When the data was last fresh; without data, when the app was first configured.
  var ageBegan: Instant? { freshAt ?? seenAt }

  /// Until when a server promised that there is nothing newer, boot clock; nil without a promise.
  var promisedUntil: Instant? { failures == 0 ? freshUntil : nil }

  /// Until when a failed server asked for no refresh by time, boot clock; nil if it did not.
  ///
  /// Neither the interval nor the age of the data starts a refresh earlier.
  var refusedUntil: Instant? { failures > 0 ? freshUntil : nil }

  /// Until when the app rests after repeated overruns of its deadline; nil while it does not rest.
  var restsUntil: Instant? {
    guard strikes.count >= Self.strikesToRest, let first = strikes.first, let last = strikes.last else { return nil }
    return first.duration(to: last) <= Self.strikeSpan ? last + Self.strikeSpan : nil
  }

  // MARK: - Events

  /// Records that a configuration names the app; true for the first time.
  mutating func see(at now: Instant) -> Bool {
    guard seenAt == nil else { return false }
    seenAt = now
    return true
  }

  /// Sets the intervals at run time.
  mutating func override(_ overrides: Overrides) { self.overrides = overrides }

  /// Sets the planned instant; nil for none.
  mutating func plan(_ instant: Instant?) { (planned, needsPlan) = (instant, false) }

  /// Restores a plan that was in force before.
  mutating func restorePlan(_ instant: Instant?) { planned = instant }

  /// Has the next slice of planning plan the app again.
  mutating func requirePlan() { needsPlan = true }

  /// Counts a start.
  ///
  /// `interval` is the fixed interval of the background; nil for none. A start serves all moments of its grid that have
  /// passed, so that a missed refresh runs once and lateness does not add up.
  mutating func start(at now: Instant, every interval: Duration?) {
    lastStart = now
    guard let interval, let grid, interval > .zero else { return self.grid = interval == nil ? nil : now }
    let passed = grid.duration(to: now).inMicroseconds / interval.inMicroseconds
    if passed > 0 { self.grid = grid + interval.times(passed) }
  }

  /// Counts a sync that the app has made by itself.
  mutating func sync(at now: Instant) { (lastStart, freshAt, failures, freshUntil, grid) = (now, now, 0, nil, now) }

  /// Counts the fixed interval of the background from a good refresh that did not come by time.
  mutating func restartGrid(at start: Instant) { if grid != nil { grid = start } }

  /// When the fixed interval of the background ends, boot clock; nil before the first start.
  ///
  /// The moment after a late refresh is left out if it would come before half of the interval has passed.
  func gridDue(every interval: Duration) -> Instant? {
    guard let start = grid ?? lastStart else { return nil }
    let due = start + interval
    guard let freshAt, freshAt > start, freshAt.duration(to: due) < interval.part(of: 2) else { return due }
    return due + interval
  }

  /// Makes the data as fresh as a refresh that began at an instant; the app may have synced by itself meanwhile.
  mutating func freshen(from start: Instant) { freshAt = max(start, freshAt ?? start) }

  /// Sets until when the server's word holds, boot clock; nil for none.
  mutating func setServerWord(until instant: Instant?) { freshUntil = instant }

  /// Counts a failure that is worth a retry; returns how many there were in a row.
  mutating func countFailure() -> Int32 {
    failures = BackOff.refreshes.counting(failures)
    return failures
  }

  /// Resets the count of failures in a row.
  mutating func endFailures() { failures = 0 }

  /// Counts a strike: the app overran its deadline.
  mutating func strike(at now: Instant) {
    strikes.append(now)
    if strikes.count > Self.strikesToRest { strikes.removeFirst() }
  }

  /// Counts a refresh that could not start for lack of processes or memory; returns how many there were in a row.
  mutating func countFailedStart() -> Int32 {
    failedStarts += 1
    return failedStarts
  }

  /// Resets the count of refreshes in a row that could not start.
  mutating func endFailedStarts() { failedStarts = 0 }

  /// Counts an activated app that quit before it took its refresh.
  mutating func countNotTaken() { notTaken += 1 }

  /// Resets the count of refreshes in a row that the app did not take.
  mutating func endNotTaken() { notTaken = 0 }

  /// Records that a failed refresh has found new data.
  mutating func findNews(at start: Instant) { newsAt = start }
}
