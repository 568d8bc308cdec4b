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
    guard let app = apps[id], app.policy != nil, app.state.isDisabled != isDisabled else { return }
    apps[id]?.state.isDisabled = isDisabled
    transfers.isTouched = true
    touch(id, &turn)
    turn.decision.changes.apps.insert(id)
    guard isDisabled else { return }
    apps[id]?.state.request = nil
    apps[id]?.state.oneShot = nil
    stop(id, .user, &turn)
  }

  /// Skips the next refresh by time: nothing starts by time until one interval after it.
  ///
  /// A second skip before that refresh changes nothing: exactly one refresh is skipped. Nor does a skip change a skip of
  /// all. A refresh by another trigger does not end the skip.
  mutating func skip(_ id: AppID, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, let spacing = app.spacing(in: app.phase, limits: limits) else {
      return
    }
    if app.skipsAllUntil(at: turn.now) != nil { return }
    if let skippedUntil = app.state.skippedUntil, skippedUntil - spacing > turn.now { return }
    let due = due(app, id, at: turn.now)
    let byTime = due.flatMap { $0.trigger.isByTime ? $0.window.earliest : nil }
    let next = byTime ?? app.dueByTime(limits: limits, at: turn.now)
    apps[id]?.state.skippedUntil = max(next ?? turn.now, turn.now) + spacing
    apps[id]?.state.skipsAll = false
    if app.state.request?.trigger.isDeferrable == true { apps[id]?.dropRequest(at: turn.now) }
    touch(id, &turn)
    turn.decision.changes.apps.insert(id)
  }

  /// Skips every refresh by time before an instant; nil or a passed instant ends every skip.
  ///
  /// A refresh by another trigger does not end the skip, and a retry waits for its end.
  mutating func skipAll(_ id: AppID, until: Instant?, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil else { return }
    if let until, until > turn.now {
      apps[id]?.state.skippedUntil = until
      apps[id]?.state.skipsAll = true
      // A retry stays in place, and is due when the skip ends.
      if let asked = app.state.request?.trigger, asked.isDeferrable, asked != .retry || app.hasCallers {
        apps[id]?.dropRequest(at: turn.now)
      }
    } else {
      guard app.state.skippedUntil != nil else { return }
      apps[id]?.endSkip()
    }
    touch(id, &turn)
    turn.decision.changes.apps.insert(id)
  }

  /// Schedules a one-shot in place of an earlier one, or removes it; an app that is off gets none.
  mutating func schedule(_ id: AppID, _ oneShot: OneShot?, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, !app.isOff, app.state.oneShot != oneShot else { return }
    apps[id]?.state.oneShot = oneShot
    touch(id, &turn)
    turn.decision.changes.apps.insert(id)
  }
}
