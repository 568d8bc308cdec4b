/// Why a refresh starts.
public enum Trigger: String, Hashable, Sendable, CaseIterable {
  /// The interval of the phase has passed since the last start.
  case interval
  /// The app entered the foreground with data that was too old.
  case foreground
  /// A push asked for it.
  case push
  /// The last transfer of a session has ended.
  case transfer
  /// An earlier refresh failed in a way that is worth a retry.
  case retry
  /// It was missed while the machine or the daemon was off.
  case catchUp = "catch-up"
  /// Something changed in a folder that its file has watched.
  case change
  /// A person asked for it.
  case manual
  /// No refresh started: the app reported a sync that it made by itself.
  case reported
}

extension Trigger {
  /// Whether the clock asks, rather than something that happened.
  var isByTime: Bool { self == .interval || self == .catchUp }

  /// Whether the refresh is the one that the interval asked for, or its retry.
  var servesInterval: Bool { isByTime || self == .retry }

  /// Whether a person, a push or a transfer session asks: a change of phase or an own sync does not end that request.
  var isAskedFor: Bool { self == .manual || self == .push || self == .transfer }

  /// Whether nobody waits for the refresh, so that it may come at a better time.
  var isDeferrable: Bool { isByTime || self == .retry || self == .change }

  /// Whether a change of phase voids a request of this kind.
  var endsWithPhase: Bool { isByTime || self == .foreground }
}

/// A request for a refresh that has not started yet.
public struct Request: Hashable, Sendable {
  /// The cause of the request.
  public var trigger: Trigger
  /// The earliest start, boot clock.
  public var earliest: Instant

  /// Makes a request.
  public init(trigger: Trigger, earliest: Instant) {
    self.trigger = trigger
    self.earliest = earliest
  }
}

/// A refresh that a caller requested for a later time.
public struct OneShot: Hashable, Sendable {
  /// The most bytes of a reason: a sentence, in any alphabet.
  public static let longestReason = 500

  /// The earliest start, boot clock.
  public var earliest: Instant
  /// The reason in the caller's words; may be empty.
  public var reason: String

  /// Makes a one-shot.
  public init(earliest: Instant, reason: String) {
    self.earliest = earliest
    self.reason = reason
  }
}

/// What asks for the app's next refresh: a request, a one-shot, a change in its folders, and the calls that wait.
struct Requests: Hashable, Sendable {
  /// The requested refresh.
  private(set) var pending: Request?
  /// Whether the next manual refresh ignores the app's constraints.
  private(set) var isForced = false
  /// A refresh that was requested for a later time.
  private(set) var oneShot: OneShot?
  /// Whether calls wait for the app's next refresh.
  private(set) var hasCallers = false
  /// Whether the user came to the app while a retry was pending: the retry then counts as a foreground refresh.
  private(set) var isRetryForUser = false
  /// The changes in its watched folders that no refresh has followed.
  private(set) var change: LocalChange?
  /// Until when a change in its watched folders counts as the app's own work, boot clock.
  private var writesUntil: Instant?

  /// Makes it from the saved part.
  init(restoring state: AppState) { restore(state) }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) {
    (pending, isForced, oneShot) = (state.request, state.isForced, state.oneShot)
  }

  /// Writes the saved part.
  func save(in state: inout AppState) {
    (state.request, state.isForced, state.oneShot) = (pending, isForced, oneShot)
  }

  /// Adds a request to the pending request: one refresh serves both, at the earlier instant.
  ///
  /// The stronger trigger stays: first `manual`, then a trigger that is asked for, then a trigger that outlives a change of
  /// phase.
  mutating func add(_ trigger: Trigger, at instant: Instant) {
    guard let asked = pending else { return pending = Request(trigger: trigger, earliest: instant) }
    if trigger == .foreground, asked.trigger == .retry { isRetryForUser = true }
    let isStronger =
      asked.trigger.endsWithPhase || trigger == .manual || trigger.isAskedFor && !asked.trigger.isAskedFor
    pending = Request(trigger: isStronger ? trigger : asked.trigger, earliest: min(asked.earliest, instant))
  }

  /// Drops the request; if calls wait for it and may go on to do so, makes it a manual request instead.
  mutating func drop(callersMayWait: Bool, at now: Instant) {
    isForced = false
    guard pending != nil else { return }
    pending = hasCallers && callersMayWait ? Request(trigger: .manual, earliest: now) : nil
  }

  /// Drops the request, with its force, and the one-shot of an app that is switched off.
  mutating func clear() { (pending, isForced, oneShot) = (nil, false, nil) }

  /// Replaces the request, as a backlog does; nil for none.
  mutating func replace(by request: Request?) { pending = request }

  /// Lets the next manual refresh ignore the app's constraints.
  mutating func force() { isForced = true }

  /// Sets whether calls wait for the app's next refresh.
  mutating func setCallers(_ areWaiting: Bool) { hasCallers = areWaiting }

  /// Sets a one-shot; nil for none.
  mutating func schedule(_ oneShot: OneShot?) { self.oneShot = oneShot }

  /// Postpones a pending retry to the instant of the newest failure's retry.
  mutating func delayRetry(until instant: Instant) {
    guard let asked = pending, asked.trigger == .retry else { return }
    pending?.earliest = max(asked.earliest, instant)
  }

  /// Drops what a starting refresh serves.
  ///
  /// A refresh that only reports a session or delivers a push (`isDelivery`) does not serve a caller that waits for a
  /// refresh.
  mutating func start(_ trigger: Trigger, isDelivery: Bool, at now: Instant) {
    if !isDelivery || pending?.trigger.isByTime == true || pending?.trigger == trigger { pending = nil }
    if pending == nil { isForced = false }
    if !isDelivery { change = nil }
    isRetryForUser = false
    if let oneShot, oneShot.earliest <= now { self.oneShot = nil }
  }

  /// Records that the user no longer waits for a retry.
  mutating func endWaitForUser() { isRetryForUser = false }

  /// Adds a change in a watched folder, unless the app's own process has made it.
  mutating func addChange(in folder: String, at now: Instant) -> Bool {
    if let writesUntil, now < writesUntil { return false }
    writesUntil = nil
    change = LocalChange(since: change?.since ?? now, last: now, folder: folder)
    return true
  }

  /// Forgets the changes in the watched folders.
  mutating func forgetChange() { change = nil }

  /// Expects writes of a long-lived process of the app, which has just synced.
  mutating func expectWrites(at now: Instant) { writesUntil = now + LocalChange.ownWritesSpan }
}

/// The changes in an app's watched folders, from the first to the last that no refresh has followed.
///
/// They are not saved: the next daemon looks at the folders itself.
public struct LocalChange: Hashable, Sendable {
  /// When the first came, boot clock.
  public var since: Instant
  /// When the last came, boot clock.
  public var last: Instant
  /// The folder of the last, as the app's file names it.
  public var folder: String

  /// How long changes are ignored after an attached process has refreshed or the app has synced, because it may still be
  /// writing.
  public static let ownWritesSpan = Duration.seconds(1)
  /// After how many settle times a refresh no longer waits until the folders are quiet.
  static let longestSettling = 10

  /// Makes a change.
  public init(since: Instant, last: Instant, folder: String) {
    (self.since, self.last, self.folder) = (since, last, folder)
  }
}

extension App {
  /// When a change in the watched folders asks for a refresh, boot clock; nil without a change.
  ///
  /// It waits until the folders have settled, for the foreground interval after the last start, and for a retry, a rest or
  /// a promise of freshness, because nobody waits for it.
  func dueByChange(limits: Limits, at now: Instant) -> Instant? {
    guard let change = requests.change, let policy else { return nil }
    let settle = policy.watchSettle
    var due = min(change.last + settle, change.since + settle * LocalChange.longestSettling)
    if let lastStart = timetable.lastStart {
      due = max(due, lastStart + (spacing(in: .foreground, limits: limits) ?? limits.foregroundFloor))
      if let rest = timetable.restsUntil, rest > now, phase == .background {
        due = max(due, min(rest, lastStart + maxStale))
      }
    }
    if let request = requests.pending, request.trigger == .retry { due = max(due, request.earliest) }
    return max(due, timetable.refusedUntil ?? due)
  }
}

/// The user's switches of an app: disable and skip outrank the schedule.
struct Switches: Hashable, Sendable {
  /// Whether the user has disabled the app.
  private(set) var isDisabled = false
  /// Nothing starts by time before this instant, because the user skipped a refresh; nil when none was skipped.
  private(set) var skippedUntil: Instant?
  /// Whether all refreshes by time are skipped until then, and not only the next one.
  private(set) var skipsAll = false

  /// Makes it from the saved part.
  init(restoring state: AppState) { restore(state) }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) {
    (isDisabled, skippedUntil, skipsAll) = (state.isDisabled, state.skippedUntil, state.skipsAll)
  }

  /// Writes the saved part.
  func save(in state: inout AppState) {
    (state.isDisabled, state.skippedUntil, state.skipsAll) = (isDisabled, skippedUntil, skipsAll)
  }

  /// Until when all refreshes by time are skipped, boot clock; nil if none or only the next is skipped.
  func skipsAllUntil(at now: Instant) -> Instant? { skipsAll ? skippedUntil.flatMap { $0 > now ? $0 : nil } : nil }

  /// Disables the app, or enables it again.
  mutating func disable(_ isDisabled: Bool) { self.isDisabled = isDisabled }

  /// Skips refreshes by time until an instant, boot clock: all, or only the next; nil ends the skip.
  mutating func skip(until instant: Instant?, all: Bool) { (skippedUntil, skipsAll) = (instant, all) }

  /// Ends a skip whose time has passed.
  mutating func endPassedSkip(at now: Instant) {
    if let skippedUntil, skippedUntil <= now { skip(until: nil, all: false) }
  }
}
