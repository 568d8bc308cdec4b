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
    apps[index].hastenQuestions(at: turn.now)
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
