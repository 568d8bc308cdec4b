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

/// A refresh that a caller asked for at a later time.
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

extension App {
  /// Adds a request to the pending request: one refresh serves both, at the earlier instant.
  ///
  /// The stronger trigger stays: first `manual`, then a trigger that is asked for, then a trigger that outlives a change of
  /// phase. An app that is off takes no request.
  mutating func ask(_ trigger: Trigger, at instant: Instant) {
    guard !isOff else { return }
    guard let asked = state.request else {
      state.request = Request(trigger: trigger, earliest: instant)
      return
    }
    if trigger == .foreground, asked.trigger == .retry { isRetryForUser = true }
    let isStronger =
      asked.trigger.endsWithPhase || trigger == .manual || trigger.isAskedFor && !asked.trigger.isAskedFor
    state.request = Request(trigger: isStronger ? trigger : asked.trigger, earliest: min(asked.earliest, instant))
  }

  /// Drops the request; if calls wait for it, makes it a manual request instead.
  mutating func dropRequest(at now: Instant) {
    state.isForced = false
    guard state.request != nil else { return }
    let isKept = hasCallers && !isOff && policy != nil
    state.request = isKept ? Request(trigger: .manual, earliest: now) : nil
  }
}

extension Engine {
  /// Requests a refresh, now or after the running refresh.
  ///
  /// An app that is off gets no request.
  mutating func request(_ id: AppID, _ trigger: Trigger, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, !apps[index].isOff else { return }
    apps[index].ask(trigger, at: turn.now)
    apps[index].askSooner(at: turn.now)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Requests a refresh against the app's constraints, as a person demands.
  mutating func force(_ id: AppID, _ turn: inout Turn) {
    request(id, .manual, &turn)
    guard let index = apps.index(of: id), apps[index].state.request?.trigger == .manual else { return }
    apps[index].state.isForced = true
  }

  mutating func dropRequest(of index: AppIndex, _ turn: inout Turn) {
    guard apps[index].state.request != nil else { return }
    apps[index].dropRequest(at: turn.now)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }
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

  /// How long a change still counts as the app's own work, after a refresh by an attached process or a sync by the app
  /// itself: either may write a little longer.
  public static let ownWritesSpan = Duration.seconds(1)
  /// After how many settle times a refresh no longer waits for quiet folders.
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
    guard let change, let policy else { return nil }
    let settle = policy.watchSettle
    var due = min(change.last + settle, change.since + settle * LocalChange.longestSettling)
    if let lastStart = state.lastStart {
      due = max(due, lastStart + (spacing(in: .foreground, limits: limits) ?? limits.foregroundFloor))
      if let rest = restsUntil, rest > now, phase == .background { due = max(due, min(rest, lastStart + maxStale)) }
    }
    if let request = state.request, request.trigger == .retry { due = max(due, request.earliest) }
    return max(due, refusedUntil ?? due)
  }
}

extension Engine {
  /// Applies a change in a watched folder of an app.
  ///
  /// A change during a refresh of the app counts as that refresh's own work; otherwise each refresh would lead to the next.
  /// An app that is off keeps its change until it is on again.
  mutating func applyChange(of id: AppID, in folder: String, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy?.watch.contains(folder) == true,
      apps[index].refreshing == nil
    else { return }
    if let until = apps[index].writesUntil, turn.now < until { return }
    apps[index].writesUntil = nil
    apps[index].change = LocalChange(since: apps[index].change?.since ?? turn.now, last: turn.now, folder: folder)
    turn.touch(index)
  }

  /// Expects writes of a long-lived process of an app, which has just synced.
  mutating func expectOwnWrites(of index: AppIndex, at now: Instant) {
    guard apps[index].policy?.watch.isEmpty == false else { return }
    apps[index].writesUntil = now + LocalChange.ownWritesSpan
  }
}

// The user's switches: disable, skip and one-shots outrank the schedule.

extension App {
  /// Until when all refreshes by time are skipped, boot clock; nil if none or only the next is skipped.
  func skipsAllUntil(at now: Instant) -> Instant? {
    state.skipsAll ? state.skippedUntil.flatMap { $0 > now ? $0 : nil } : nil
  }

  mutating func endSkip() { (state.skippedUntil, state.skipsAll) = (nil, false) }

  /// Ends a skip whose time has passed.
  mutating func endPassedSkip(at now: Instant) {
    if let skippedUntil = state.skippedUntil, skippedUntil <= now { endSkip() }
  }
}

extension Engine {
  /// Disables an app, or enables it again.
  ///
  /// Stops its running refresh and drops its requests; keeps the schedule until it is enabled again.
  mutating func disable(_ id: AppID, _ isDisabled: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].state.isDisabled != isDisabled
    else { return }
    apps[index].state.isDisabled = isDisabled
    transfers.touch()
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
    guard isDisabled else { return }
    apps[index].state.request = nil
    apps[index].state.oneShot = nil
    stop(index, .user, &turn)
  }

  /// Skips the next refresh by time: nothing starts by time until one interval after it.
  ///
  /// A second skip before that refresh changes nothing: exactly one refresh is skipped. Nor does a skip change a skip of
  /// all. A refresh by another trigger does not end the skip.
  mutating func skip(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil,
      let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    else { return }
    if apps[index].skipsAllUntil(at: turn.now) != nil { return }
    if let skippedUntil = apps[index].state.skippedUntil, skippedUntil - spacing > turn.now { return }
    let due = judge.due(of: apps[index], at: turn.now)
    let byTime = due.flatMap { $0.trigger.isByTime ? $0.window.earliest : nil }
    let next = byTime ?? apps[index].dueByTime(limits: judge.limits, at: turn.now)
    apps[index].state.skippedUntil = max(next ?? turn.now, turn.now) + spacing
    apps[index].state.skipsAll = false
    if apps[index].state.request?.trigger.isDeferrable == true { apps[index].dropRequest(at: turn.now) }
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Skips every refresh by time before an instant; nil or a passed instant ends every skip.
  ///
  /// A refresh by another trigger does not end the skip, and a retry waits for its end.
  mutating func skipAll(_ id: AppID, until: Instant?, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    if let until, until > turn.now {
      apps[index].state.skippedUntil = until
      apps[index].state.skipsAll = true
      // A retry stays in place, and is due when the skip ends.
      if let asked = apps[index].state.request?.trigger, asked.isDeferrable, asked != .retry || apps[index].hasCallers {
        apps[index].dropRequest(at: turn.now)
      }
    } else {
      guard apps[index].state.skippedUntil != nil else { return }
      apps[index].endSkip()
    }
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Schedules a one-shot in place of an earlier one, or removes it; an app that is off gets none.
  mutating func schedule(_ id: AppID, _ oneShot: OneShot?, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, !apps[index].isOff,
      apps[index].state.oneShot != oneShot
    else { return }
    apps[index].state.oneShot = oneShot
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }
}
