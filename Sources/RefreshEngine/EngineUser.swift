// The user's word: it stands above everything but itself (FEATURES D7, A13).

extension Engine {
  /// Disables an app, or enables it again.
  ///
  /// What runs of it is stopped, what was asked for is forgotten; the schedule stays for the day it is enabled.
  mutating func disable(_ id: AppID, _ isDisabled: Bool, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, app.state.isDisabled != isDisabled else { return }
    apps[id]?.state.isDisabled = isDisabled
    transfers.isTouched = true
    touch(id, &turn)
    turn.decision.changed.insert(id)
    guard isDisabled else { return }
    apps[id]?.state.request = nil
    apps[id]?.state.oneShot = nil
    stop(id, .user, &turn)
  }

  /// Passes over the next refresh that time would start: nothing starts by time until one interval after it.
  ///
  /// While that one is still ahead, a second skip changes nothing: exactly one is passed over.
  mutating func skip(_ id: AppID, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, let spacing = app.spacing(in: app.phase, limits: limits) else {
      return
    }
    if let skippedUntil = app.state.skippedUntil, skippedUntil - spacing > turn.now { return }
    let due = due(app, id, at: turn.now)
    let next = due.flatMap { $0.trigger.isByTime ? $0.earliest : nil } ?? app.dueByTime(limits: limits, at: turn.now)
    apps[id]?.state.skippedUntil = max(next ?? turn.now, turn.now) + spacing
    if app.state.request?.trigger.isDeferrable == true { apps[id]?.state.request = nil }
    touch(id, &turn)
    turn.decision.changed.insert(id)
  }

  /// Puts a refresh down for later, in place of one that was put down before; one that is off gets none.
  mutating func schedule(_ id: AppID, _ oneShot: OneShot, _ turn: inout Turn) {
    guard let app = apps[id], app.policy != nil, !app.isOff, app.state.oneShot != oneShot else { return }
    apps[id]?.state.oneShot = oneShot
    touch(id, &turn)
    turn.decision.changed.insert(id)
  }

  /// Pauses all apps, or ends the pause; what runs goes on.
  mutating func setPause(_ pause: Pause?, _ turn: inout Turn) {
    var pause = pause
    if pause == .untilAC, conditions.power.value?.onBattery == false { pause = nil }
    guard device.pause != pause else { return }
    device.pause = pause
    transfers.isTouched = true
    turn.decision.deviceChanged = true
    turn.touched.insert(held.all)
  }

  /// Ends a pause whose time has come.
  mutating func endPause(_ turn: inout Turn) {
    if case .until(let end)? = device.pause, end <= turn.now { setPause(nil, &turn) }
  }

  /// Until when the machine settles after boot or resume, boot clock; nil when it was in neither.
  var settlingUntil: Instant? { resumedAt.map { $0 + limits.settle } }

  /// Has what runs end before the machine sleeps, and starts nothing more until it is awake (FEATURES B9).
  mutating func suspend(until end: Instant, _ turn: inout Turn) {
    isSuspending = true
    transfers.isTouched = true
    turn.touched.insert(apps.allPlaces)
    for id in running.values.sorted() {
      guard var refreshing = apps[id]?.refreshing else { continue }
      if let effect = refreshing.sleep(at: end, app: id, from: turn.now) { turn.decision.effects.append(effect) }
      apps[id]?.refreshing = refreshing
    }
  }

  /// Lets the machine settle, then spreads what was missed, the stalest first (FEATURES A12).
  mutating func resume(_ turn: inout Turn) {
    resumedAt = turn.now
    isSuspending = false
    transfers.isTouched = true
    for id in running.values.sorted() {
      guard var refreshing = apps[id]?.refreshing else { continue }
      refreshing.stayAwake()
      apps[id]?.refreshing = refreshing
      touch(id, &turn)
    }
    turn.touched.insert(held.all)
    catchUp(&turn, byStaleness: true)
    turn.touched.insert(apps.allPlaces.filter { tellsStale(apps[$0]) != nil })
  }
}
