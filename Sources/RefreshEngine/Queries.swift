// Queries besides the verdict. Each answer is derived from the state; nothing is stored for it.

extension Engine {
  /// The apps that the configuration names, in order of id.
  public var configuredApps: [AppID] {
    apps.indexes.filter { apps[$0].policy != nil }.map(apps.id)
  }

  /// The known apps, also apps that no file names any more, in order of id.
  public var knownApps: [AppID] {
    apps.indexes.filter { apps[$0].policy != nil || apps[$0].state.seenAt != nil }.map(apps.id)
  }

  /// The state of an app, for the store; nil if the app was never configured.
  public func state(of id: AppID) -> AppState? { apps.index(of: id).map { apps[$0].state } }

  /// The phase of an app; nil if it is not configured.
  ///
  /// Inlined, because a call would copy the engine's many references; every signal reads it.
  @inlinable public func phase(of id: AppID) -> Phase? { apps.phase(of: id) }

  /// An app's presence on desktops; nil for an unknown app.
  public func presence(of id: AppID) -> Presence? { apps.index(of: id).map { apps[$0].presence } }

  /// The interval in force for an app in a phase, set at run time or by its file; nil for `loggedOut`.
  public func interval(of id: AppID, in phase: Phase) -> Interval? {
    apps.index(of: id).flatMap { apps[$0].interval(in: phase) }
  }

  /// Every term of the judgement about an app at an instant, boot clock; nil for an app that is not configured.
  public func explain(_ id: AppID, at now: Instant) -> Explanation? {
    guard let index = apps.index(of: id), let policy = apps[index].policy else { return nil }
    let app = apps[index]
    var explanation = Explanation(verdict: verdict(on: index, at: now))
    let due = app.refreshing == nil ? explanation.verdict.due : due(index, at: now)
    (explanation.trigger, explanation.window) = (due?.trigger, due?.window)
    explanation.floor = app.spacing(in: app.phase, limits: limits).flatMap { spacing in
      app.state.lastStart.map { $0 + spacing }
    }
    explanation.staleAt = app.ageBegan.map { $0 + app.maxStale }
    explanation.terms = Constraint.allCases.filter(policy.constraints.asks(for:)).map { constraint in
      let relaxedAt = app.relaxedAt(constraint)
      return Explanation.Term(
        constraint: constraint, isMet: isMet(constraint, by: app, at: now),
        isUnknown: isUnknown(constraint, of: policy.constraints, by: app),
        relaxedAt: relaxedAt, isRelaxed: relaxedAt.map { $0 <= now } ?? false,
        question: Explanation.Question(constraint, of: app))
    }
    explanation.failures = Int(app.state.failures)
    explanation.restsUntil = app.restsUntil.flatMap { $0 > now ? $0 : nil }
    explanation.skippedUntil = app.state.skippedUntil.flatMap { $0 > now ? $0 : nil }
    explanation.skipsAll = app.skipsAllUntil(at: now) != nil
    explanation.oneShot = app.state.oneShot
    explanation.drained = app.drained
    explanation.pushes = waitingPushes(of: app, at: now)
    explanation.freshUntil = app.promisedUntil.flatMap { $0 > now ? $0 : nil }
    explanation.reportsStale = reportsStale(app)
    explanation.countsAsOpenedAt = app.countsAsOpenedAt
    (explanation.presence, explanation.isPhaseTold) = (app.presence, app.tellsPhase || app.isToldForeground)
    explanation.reportsHeld = reportsHeld(app, explanation.verdict)
    explanation.change = app.change
    explanation.waiting = app.state.waiting
    explanation.planning = planning(of: index, at: now)
    return explanation
  }

  private func planning(of index: AppIndex, at now: Instant) -> Explanation.Planning? {
    let app = apps[index]
    guard let plan = currentPlan(index, at: now), let habits = habits(of: apps.id(at: index)),
      let lastStart = app.state.lastStart, let spacing = app.spacing(in: .background, limits: limits)
    else { return nil }
    // The end of the interval wins over an earlier ceiling.
    let planned = max(app.plannedInForce ?? now, lastStart + spacing)
    return Explanation.Planning(
      plan: plan, planned: planned, habits: habits, habit: habits.usage.habit(after: local(planned)),
      price: learningsInForce.price, ceiling: lastStart + app.maxStale)
  }

  /// The habits of an app, as learnt or pinned in its file; nil while nothing is learnt.
  public func habits(of id: AppID) -> Habits? {
    guard let pins = policy(of: id)?.pins, let learned = learned(of: id) else { return nil }
    let device = learningsInForce
    return Habits(
      usage: learned.usage(device, pins), newDataPerDay: learned.newDataPerDay(device, pins),
      cost: learned.cost(device, pins))
  }

  /// The learners of an app, for the store; nil while nothing is learnt.
  public func learned(of id: AppID) -> Learned? { apps.index(of: id).flatMap { apps.learned(of: $0) } }

  /// How many apps each hold keeps at an instant, boot clock; an app with two holds counts for both.
  public func heldCounts(at now: Instant) -> [Hold.Name: Int] {
    var counts: [Hold.Name: Int] = [:]
    for index in held.all where apps[index].policy != nil {
      for hold in verdict(on: index, at: now).holds { counts[hold.name, default: 0] += 1 }
    }
    return counts
  }

  /// How many refreshes are running, without refreshes whose processes no signal ends.
  public var refreshingCount: Int { running.count - stuck.count }

  /// The running refreshes whose processes no signal ends, with their apps.
  public var stuckRefreshes: [RefreshID: AppID] { running.filter { stuck.contains($0.key) } }

  /// When a running refresh is asked to end, boot clock; nil for an unknown refresh.
  public func deadline(of refresh: RefreshID) -> Instant? {
    refreshing(refresh)?.deadline.at
  }

  /// Whether the daemon has not yet performed the start of a running refresh.
  public func isAwaitingBegin(_ refresh: RefreshID) -> Bool {
    refreshing(refresh)?.stage == .started
  }

  /// The refreshes that are running, in order of id.
  public var refreshes: [RefreshID] { running.keys.sorted() }

  /// How many tasks a running refresh has; 0 if the refresh is unknown.
  public func taskCount(of refresh: RefreshID) -> Int {
    refreshing(refresh)?.tasks.policies.count ?? 0
  }

  /// The outcome of a task of a running refresh so far; nil without an outcome, or for an unknown task.
  public func outcome(of refresh: RefreshID, task: Int) -> Outcome? {
    guard let refreshing = refreshing(refresh), refreshing.tasks.progress.indices.contains(task) else { return nil }
    return switch refreshing.tasks.progress[task] {
    case .waiting: nil
    case .running: refreshing.stopReason.map { .failed(.stopped($0)) }
    case .completed(let outcome, _, _): outcome
    case .ended(let record): record.outcome
    }
  }
}
