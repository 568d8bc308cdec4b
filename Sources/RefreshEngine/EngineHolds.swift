// What keeps a due refresh from starting, and the record of it.

extension Engine {
  /// What keeps an app from any refresh, due or not.
  func lastingHolds(on app: App) -> [Hold] {
    var holds: [Hold] = []
    if app.policy == nil { holds.append(.notConfigured) }
    if app.state.isLoggedOut { holds.append(.loggedOut) }
    if app.state.isDisabled { holds.append(.disabled) }
    if isStopping { holds.append(.stopping) }
    if isSuspending { holds.append(.suspending) }
    return holds
  }

  /// What keeps a refresh that is due from starting, places apart.
  ///
  /// A person who asks passes a pause; whoever waits for a refresh passes what only puts off.
  func holds(on app: App, _ id: AppID, for trigger: Trigger, at now: Instant) -> [Hold] {
    var holds: [Hold] = []
    if let pause = device.pause, trigger != .manual { holds.append(.paused(pause)) }
    if trigger.isDeferrable {
      if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
      if let quiet = app.policy?.quiet, let end = end(of: quiet, id, at: now) { holds.append(.quiet(until: end)) }
      let saves = limits.powerSaver == .stop && conditions.powerSaver.value == true
      if saves && app.phase == .background { holds.append(.powerSaver) }
    }
    if app.policy?.tasks.isEmpty == true && !app.isAttached { holds.append(.app) }
    // What was moved is here: the app needs nothing more to take it.
    return app.needsNothing(for: trigger) ? holds : holds + unmet(app, at: now)
  }

  /// When quiet hours end that an instant lies in, boot clock; nil when it lies in none.
  ///
  /// Each app's end is later by its spread, so that the apps of a quiet night do not all start in one moment.
  private func end(of quiet: QuietHours, _ id: AppID, at now: Instant) -> Instant? {
    let offset = spread.offset(of: id, within: Self.catchUpSpan).inMicroseconds
    let wall = now.microseconds + wallOffset.inMicroseconds
    for moment in [wall, wall - offset] where quiet.contains(zone.local(moment)) {
      var end = zone.next(minuteOfDay: quiet.to, from: moment)
      // Daylight saving may set the clock out of the quiet hours.
      let out = zone.changes.first { $0.at > moment && $0.at < end && !quiet.contains(zone.local($0.at)) }
      if let out { end = out.at }
      return Instant(microseconds: end + offset - wallOffset.inMicroseconds)
    }
    return nil
  }

  /// When time alone lifts the first of the holds or changes them, boot clock; nil when it never does.
  func wake(of holds: [Hold], on place: Place, at now: Instant) -> Instant? {
    var lifted = holds.compactMap(\.liftedAt)
    guard holds.allSatisfy(\.isOfDue) else { return lifted.min() }
    if let oneShot = apps[place].state.oneShot, oneShot.earliest > now { lifted.append(oneShot.earliest) }
    if let drained = apps[place].nextDrained?.earliest, drained > now { lifted.append(drained) }
    if let push = nextPush(of: apps[place], at: now)?.earliest, push > now { lifted.append(push) }
    guard let quiet = apps[place].policy?.quiet else { return lifted.min() }
    guard due(place, at: now)?.trigger.isDeferrable == true else { return lifted.min() }
    return (lifted + [beginning(of: quiet, after: now)]).min()
  }

  /// When quiet hours begin next, boot clock, or a change of the zone, which may lead into them.
  private func beginning(of quiet: QuietHours, after now: Instant) -> Instant {
    let wall = now.microseconds + wallOffset.inMicroseconds
    let begin = zone.next(minuteOfDay: quiet.from, from: wall + 1)
    let change = zone.changes.first { $0.at > wall }?.at ?? begin
    return Instant(microseconds: min(begin, change) - wallOffset.inMicroseconds)
  }

  /// Keeps the record of what a due app waits for, and closes it when that has changed.
  mutating func noteWaiting(_ place: Place, _ verdict: Verdict, _ turn: inout Turn) {
    var names: [Hold.Name] = []
    if case .held(let holds) = verdict { names = holds.map(\.name).filter(\.isWorthARecord) }
    let waiting = apps[place].state.waiting
    guard names != waiting?.holds ?? [] else { return }
    if let waiting {
      turn.decision.waited.append(
        WaitRecord(app: apps.id(at: place), since: waiting.since, until: turn.now, holds: waiting.holds))
    }
    apps[place].state.waiting = names.isEmpty ? nil : Waiting(since: turn.now, holds: names)
    turn.decision.changed.insert(apps.id(at: place))
  }
}

extension Hold.Name {
  /// Whether a person asks for it afterwards; the others pass in moments, or are no wait.
  fileprivate var isWorthARecord: Bool {
    switch self {
    case .notConfigured, .never, .stopping, .settling, .suspending, .concurrency: false
    case .loggedOut, .disabled, .paused, .quiet, .network, .power, .idle, .calm, .powerSaver, .app: true
    }
  }
}

extension Hold {
  /// Whether it keeps what is due, which quiet hours may keep too.
  fileprivate var isOfDue: Bool {
    switch self {
    case .notConfigured, .loggedOut, .disabled, .never, .stopping, .suspending: false
    case .paused, .quiet, .constraint, .powerSaver, .settling, .app, .concurrency: true
    }
  }
}

extension QuietHours {
  /// Whether a local time lies in them.
  func contains(_ local: LocalTime) -> Bool {
    let minute = local.minuteOfDay
    return from <= to ? Double(from) <= minute && minute < Double(to) : minute >= Double(from) || minute < Double(to)
  }
}
