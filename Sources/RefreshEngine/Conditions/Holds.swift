// The rules of holds: every reason that keeps an app from a refresh.

extension Engine {
  /// The holds that keep an app from any refresh, even if a person asks, and after the running refresh.
  ///
  /// An app that was never configured is held as not configured.
  public func lastingHolds(on id: AppID) -> [Hold] {
    apps.index(of: id).map { lastingHolds(on: apps[$0]) } ?? [.notConfigured]
  }

  /// The holds that keep an app from any refresh, due or not.
  func lastingHolds(on app: App) -> [Hold] {
    var holds: [Hold] = []
    if app.sharedPolicy == nil { holds.append(.notConfigured) }
    if let reason = app.sharedPolicy?.value.unusable { holds.append(.misconfigured(reason)) }
    if app.state.isLoggedOut { holds.append(.loggedOut) }
    if app.state.isDisabled { holds.append(.disabled) }
    if isStopping { holds.append(.stopping) }
    if isSuspending { holds.append(.suspending) }
    return holds
  }

  /// The holds that keep a due refresh from starting, apart from slots.
  ///
  /// A manual refresh passes a pause. A refresh that a caller or the user waits for passes quiet hours, settling and the
  /// power saver.
  func holds(on app: App, _ id: AppID, for trigger: Trigger, at now: Instant) -> [Hold] {
    var holds: [Hold] = []
    if let pause = device.pause, !pause.isOver(at: now), trigger != .manual { holds.append(.paused(pause)) }
    if trigger.isDeferrable {
      if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
      if let quiet = app.policy?.quiet, let end = end(of: quiet, id, at: now) { holds.append(.quiet(until: end)) }
      let saves = limits.powerSaver == .stop && conditions.powerSaver.value == true
      if saves && app.phase == .background { holds.append(.powerSaver) }
    }
    if let hold = holdByPerformer(app, at: now) { holds.append(hold) }
    // Transferred files are already on the disk: the report needs no condition.
    return app.needsNothing(for: trigger) ? holds : withQuestionsLast(holds + unmet(app, at: now), of: app)
  }

  /// How long the command of an app waits after the daemon's start for a process that was attached before.
  static let reattaching = Duration.seconds(2)

  private func holdByPerformer(_ app: App, at now: Instant) -> Hold? {
    guard !app.isAttached else { return nil }
    if app.policy?.tasks.isEmpty == true { return .noPerformer(until: nil) }
    guard app.state.wasAttached, let until = configuredAt.map({ $0 + Self.reattaching }), until > now else {
      return nil
    }
    return .noPerformer(until: until)
  }

  /// When time alone lifts the first hold, or makes a refresh due that the holds do not keep, boot clock; nil for never.
  func lifts(of holds: [Hold], on index: AppIndex, at now: Instant) -> Instant? {
    var lifted = holds.compactMap(\.liftedAt)
    guard holds.allSatisfy(\.isOfDue) else { return lifted.min() }
    if let oneShot = apps[index].state.oneShot, oneShot.earliest > now { lifted.append(oneShot.earliest) }
    if let drained = apps[index].nextDrained?.earliest, drained > now { lifted.append(drained) }
    if let push = nextPush(of: apps[index], at: now)?.earliest, push > now { lifted.append(push) }
    return lifted.min()
  }

  /// When time alone lifts or changes the first hold, or a question is asked again, boot clock; nil for never.
  func wake(of holds: [Hold], of due: Due?, on index: AppIndex, at now: Instant) -> Instant? {
    let lifted = [lifts(of: holds, on: index, at: now), wakeToAsk(index, by: holds)].compactMap(\.self).min()
    guard holds.allSatisfy(\.isOfDue), let quiet = apps[index].policy?.quiet,
      due?.trigger.isDeferrable == true
    else { return lifted }
    let begin = beginning(of: quiet, after: now)
    return lifted.map { min($0, begin) } ?? begin
  }
}

extension Hold {
  /// Whether the hold applies only to a due refresh.
  fileprivate var isOfDue: Bool {
    switch self {
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .stopping, .suspending: false
    case .paused, .quiet, .constraint, .powerSaver, .settling, .unsteady, .wakeLimit, .noPerformer, .concurrency: true
    }
  }
}
