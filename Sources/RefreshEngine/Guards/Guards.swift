// Guards: whether a unit may run now, and what the daemon does about it.

extension Engine {
  /// How long a command's yes lets a guard's unit run; the command is asked again after half of that.
  static let answerLife = Duration.minutes(10)

  /// The judgement about an app with a guard: its unit may run, or is held.
  func guardVerdict(on app: App, _ id: AppID, at now: Instant) -> Verdict {
    let lasting = lastingHolds(on: app)
    guard lasting.isEmpty else { return .held(lasting) }
    var holds: [Hold] = []
    if let pause = device.pause, !pause.isOver(at: now) { holds.append(.paused(pause)) }
    if let quiet = app.policy?.quiet, let end = end(of: quiet, id, at: now) { holds.append(.quiet(until: end)) }
    if limits.powerSaver == .stop, conditions.powerSaver.value == true { holds.append(.powerSaver) }
    holds = withQuestionsLast(holds + unmet(app, at: now), of: app)
    if holds.isEmpty, let until = app.guarding?.steadyAt(from: now), until > now { holds = [.unsteady(until: until)] }
    return holds.isEmpty ? .clear : .held(holds)
  }

  /// Acts on the verdict about an app that has a guard, or had one before.
  mutating func noteGuard(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    let unit = apps[index].policy?.guarded
    guard unit != nil || apps[index].guarding != nil || apps[index].state.keptUnit != nil else { return }
    // No keeper starts for a sleeping machine, and a daemon that stops ends the keepers itself.
    guard isConfigured, !isStopping, !isSuspending else { return }
    let keeper = apps[index].guarding?.keeper
    if let keeper, keeper.isReturning { return }
    // Until the mistake in the file is corrected, everything stays as it is.
    if apps[index].policy?.unusable != nil { return }
    if let keeper, keeper.unit != unit { return giveBack(keeper.unit, index, &turn) }
    if keeper == nil, let left = apps[index].state.keptUnit {
      if let unit, let taken = unit.taken(as: left) {
        if taken != unit { return giveBack(taken, index, &turn) }
      } else {
        apps[index].state.keptUnit = nil
        turn.decision.changes.apps.insert(apps.id(at: index))
        turn.decision.effects.append(.reportLeftUnit(apps.id(at: index), GuardedUnit(kept: left)))
      }
    }
    guard let unit else { return apps[index].guarding = nil }
    switch verdict {
    case .held(let holds, _) where holds.map(\.name) == [.unsteady]: apps[index].guarding?.noteFree(at: turn.now)
    case .held(let holds, _) where !isUndecided(holds, apps[index]):
      keep(unit, index, &turn)
      if holds.contains(where: \.isOfConditions) { apps[index].guarding?.noteLoss(at: turn.now) }
    case .clear where keeper != nil || apps[index].state.keptUnit != nil: giveBack(unit, index, &turn)
    default: break
    }
  }

  /// Whether the conditions that hold an app are not known yet, so that its unit stays as it is.
  private func isUndecided(_ holds: [Hold], _ app: App) -> Bool {
    guard let constraints = app.policy?.constraints else { return false }
    return holds.allSatisfy { hold in
      if case .constraint(let constraint, _) = hold {
        isUnanswered(constraint, of: constraints, by: app)
      } else {
        false
      }
    }
  }

  private mutating func keep(_ unit: GuardedUnit, _ index: AppIndex, _ turn: inout Turn) {
    guard mayStartKeeper(of: index, at: turn.now) else { return }
    let run = makeRun(of: apps.id(at: index), for: .keeper)
    apps[index].guarding = apps[index].guarding ?? Guarding()
    apps[index].guarding?.keep(run.id, unit)
    turn.decision.effects.append(.keep(run, unit, isKept: apps[index].state.keptUnit == unit.kept))
  }

  private mutating func giveBack(_ unit: GuardedUnit, _ index: AppIndex, _ turn: inout Turn) {
    let keeper = apps[index].guarding?.keeper
    guard keeper != nil || mayStartKeeper(of: index, at: turn.now) else { return }
    let app = apps.id(at: index)
    let run = keeper.map { Run($0.id, of: app, for: .keeper) } ?? makeRun(of: app, for: .keeper)
    apps[index].guarding = apps[index].guarding ?? Guarding()
    apps[index].guarding?.giveBack(run.id, unit)
    // A keeper that has reported runs; it does nothing to the unit before its first report.
    let isRunning = keeper != nil && apps[index].guarding?.report != nil
    turn.decision.effects.append(.giveBack(run, unit, isRunning: isRunning))
  }

  /// Has a guard return a unit that a guard with another id left stopped or frozen, because the app's id changed.
  mutating func inheritKeptUnits(_ turn: inout Turn) {
    for index in apps.indexes {
      guard let left = apps[index].state.keptUnit, apps[index].guarding?.keeper == nil, apps[index].policy == nil,
        let heir = apps.indexes.first(where: { apps[$0].mayInherit(left) })
      else { continue }
      apps[index].state.keptUnit = nil
      apps[heir].state.keptUnit = left
      turn.decision.changes.apps.formUnion([apps.id(at: index), apps.id(at: heir)])
    }
  }

  private func mayStartKeeper(of index: AppIndex, at now: Instant) -> Bool {
    guard let guarding = apps[index].guarding else { return true }
    return guarding.keeper == nil && guarding.retryAt.map { $0 <= now } ?? true
  }

  /// Applies the report of a keeper: whether it keeps the unit from running from now on.
  mutating func takeReport(_ run: Run, isKept: Bool, _ text: String, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), let keeper = apps[index].guarding?.keeper, keeper.id == run.id else {
      return
    }
    apps[index].guarding?.noteReport(text)
    setKept(isKept ? keeper.unit.kept : nil, index, &turn)
    turn.touch(index)
  }

  /// Applies the end of a keeper.
  mutating func endKeeper(_ run: Run, _ end: KeeperEnd, _ turn: inout Turn) {
    guard let index = apps.index(of: run.app), let ended = apps[index].guarding?.keeper, ended.id == run.id else {
      return
    }
    // A keeper that ended before it began has kept nothing, and has nothing to return.
    let hasNothing = ended.isReturning && apps[index].state.keptUnit == nil
    apps[index].guarding?.end(hasNothing ? .returned(trouble: nil) : end, at: turn.now)
    if case .returned = end { setKept(nil, index, &turn) }
    turn.touch(index)
  }

  private mutating func setKept(_ unit: String?, _ index: AppIndex, _ turn: inout Turn) {
    guard apps[index].state.keptUnit != unit else { return }
    apps[index].state.keptUnit = unit
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  /// When to look at a guard again if nothing else happens, boot clock.
  func guardWake(_ index: AppIndex, _ verdict: Verdict, at now: Instant) -> Instant? {
    guard apps[index].policy?.guarded != nil else { return nil }
    // A retry whose time has passed waits for something else, and each event about the app looks at it again.
    let retryAt = apps[index].guarding?.retryAt.flatMap { $0 > now ? $0 : nil }
    var wakes = [apps[index].guarding?.keeper == nil ? retryAt : nil]
    if let quiet = apps[index].policy?.quiet { wakes.append(beginning(of: quiet, after: now)) }
    if verdict == .clear { wakes += askedConstraints(of: apps[index]).map { apps[index].questions[$0]?.asksAgainAt } }
    return wakes.compactMap(\.self).min()
  }

  /// The condition to ask about again for a guard whose unit runs.
  func questionOfGuard(_ index: AppIndex, _ verdict: Verdict, at now: Instant) -> Constraint? {
    guard apps[index].policy?.guarded != nil, verdict == .clear else { return nil }
    return askedConstraints(of: apps[index]).first { constraint in
      apps[index].questions[constraint]?.asksAgainAt.map { $0 <= now } ?? false
    }
  }

  private func askedConstraints(of app: App) -> [Constraint] {
    Constraint.allCases.filter { $0.source == .asked && app.policy?.constraints.asks(for: $0) == true }
  }

  /// A guard for a person; nil for an app without a guard.
  public func guardState(of id: AppID) -> GuardState? {
    guard let index = apps.index(of: id), let unit = apps[index].policy?.guarded else { return nil }
    return GuardState(
      unit: unit, isKept: apps[index].state.keptUnit.flatMap(unit.taken) != nil, report: apps[index].guarding?.report,
      trouble: apps[index].guarding?.trouble)
  }
}

extension App {
  /// Whether a condition may matter to the app although nothing holds it.
  var followsConditions: Bool { policy?.guarded != nil || pushesFollowConditions }

  /// Whether its guard names a kept unit, and has kept none itself.
  fileprivate func mayInherit(_ kept: String) -> Bool {
    policy?.unusable == nil && policy?.guarded?.taken(as: kept) != nil && state.keptUnit == nil
      && guarding?.keeper == nil
  }
}

extension Hold {
  /// Whether a condition of the machine lifts it, and may come and go.
  fileprivate var isOfConditions: Bool {
    switch self {
    case .constraint, .powerSaver: true
    default: false
    }
  }
}
