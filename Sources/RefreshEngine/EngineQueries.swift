// What the engine can be asked beside its verdict. All of it is derived, nothing is stored for it.

extension Engine {
  /// The apps that the configuration names, in order of id.
  public var configuredApps: [AppID] {
    apps.ids.filter { apps[$0]?.policy != nil }.sorted()
  }

  /// What is to be saved of an app; nil for one that was never heard of.
  public func state(of id: AppID) -> AppState? { apps[id]?.state }

  /// Where an app is by its signals and leases; nil for one that is not configured.
  public func phase(of id: AppID) -> Phase? {
    apps[id].flatMap { $0.policy == nil ? nil : $0.phase }
  }

  /// The interval in force for an app in a phase, set at run time or by its file; nil for `loggedOut`.
  public func interval(of id: AppID, in phase: Phase) -> Interval? {
    apps[id]?.interval(in: phase)
  }

  /// Every term of the judgement about an app at an instant, boot clock; nil for one that is not configured.
  public func explain(_ id: AppID, at now: Instant) -> Explanation? {
    guard let app = apps[id], let policy = app.policy else { return nil }
    let due = app.due(limits: limits, spread: spread, of: id, at: now)
    var explanation = Explanation(verdict: verdict(on: id, at: now))
    explanation.trigger = due?.trigger
    explanation.window = due.map { Window(earliest: $0.earliest, latest: $0.latest) }
    explanation.floor = app.spacing(in: app.phase, limits: limits).flatMap { spacing in
      app.lastStart.map { $0 + spacing }
    }
    explanation.staleAt = app.ageBegan.map { $0 + app.maxStale }
    explanation.terms = Constraint.allCases.filter(policy.constraints.asks(for:)).map { constraint in
      let relaxedAt = app.relaxedAt(constraint)
      return Explanation.Term(
        constraint: constraint, isMet: isMet(constraint, by: app, at: now), isUnknown: conditions.isUnknown(constraint),
        relaxedAt: relaxedAt, isRelaxed: relaxedAt.map { $0 <= now } ?? false)
    }
    explanation.failures = Int(app.failures)
    explanation.restsUntil = app.restsUntil.flatMap { $0 > now ? $0 : nil }
    explanation.skippedUntil = app.skippedUntil.flatMap { $0 > now ? $0 : nil }
    explanation.oneShot = app.oneShot
    explanation.tellsStale = tellsStale(app)
    explanation.waiting = app.waiting
    return explanation
  }

  /// How many refreshes are running.
  public var refreshingCount: Int { running.count }

  /// The refreshes that are running, in order of id.
  public var refreshes: [RefreshID] { running.keys.sorted() }

  /// What a task of a running refresh has said or done so far; nil while it has said nothing, or is not there.
  public func outcome(of refresh: RefreshID, task: Int) -> Outcome? {
    guard let id = running[refresh], let refreshing = apps[id]?.refreshing,
      refreshing.progress.indices.contains(task)
    else { return nil }
    return switch refreshing.progress[task] {
    case .waiting: nil
    case .running: refreshing.stopReason.map { .failed(.stopped($0)) }
    case .completed(let outcome, _, _): outcome
    case .ended(let record): record.outcome
    }
  }
}
