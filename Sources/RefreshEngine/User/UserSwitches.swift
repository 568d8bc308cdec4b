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
    transfers.isTouched = true
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
      let spacing = apps[index].spacing(in: apps[index].phase, limits: limits)
    else { return }
    if apps[index].skipsAllUntil(at: turn.now) != nil { return }
    if let skippedUntil = apps[index].state.skippedUntil, skippedUntil - spacing > turn.now { return }
    let due = due(index, at: turn.now)
    let byTime = due.flatMap { $0.trigger.isByTime ? $0.window.earliest : nil }
    let next = byTime ?? apps[index].dueByTime(limits: limits, at: turn.now)
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
