// Queries besides the verdict. Each answer is derived from the state; nothing is stored for it.

extension Engine {
  /// The bounds in force.
  public var limits: Limits { judge.limits }

  /// Wall time minus boot time; the edges map instants to wall time with it.
  public var wallOffset: Duration { judge.clock.wallOffset }

  /// How local time follows from wall time.
  public var zone: Zone { judge.clock.zone }

  /// Whether the daemon is stopping.
  public var isStopping: Bool { judge.life.isStopping }

  /// The conditions of the machine, as far as they have been observed.
  public var conditions: Conditions { judge.conditions }

  /// The state that all apps share, for the store.
  public var device: DeviceState {
    var device = DeviceState(pause: judge.pause, learnings: planner.learnings)
    device.day = planner.day
    return device
  }

  /// The holds that keep an app from any refresh, even from one that a person requests, and even while none is due.
  ///
  /// An app that was never configured is held as not configured.
  public func lastingHolds(on id: AppID) -> [Hold] {
    apps.index(of: id).map { judge.lastingHolds(on: apps[$0]) } ?? [.notConfigured]
  }

  /// The apps that the configuration names, in order of id.
  public var configuredApps: [AppID] {
    apps.indexes.filter { apps[$0].policy != nil }.map(apps.id)
  }

  /// The known apps, also apps that no file names any more, in order of id.
  public var knownApps: [AppID] {
    apps.indexes.filter { apps[$0].policy != nil || apps[$0].timetable.seenAt != nil }.map(apps.id)
  }

  /// The state of an app, for the store; nil if the app was never configured.
  public func state(of id: AppID) -> AppState? { apps.index(of: id).map { apps[$0].saved } }

  /// The phase of an app; nil if it is not configured.
  ///
  /// Inlined, because a call would copy the engine's many references; every signal reads it.
  @inlinable public func phase(of id: AppID) -> Phase? { apps.phase(of: id) }

  /// An app's presence on desktops; nil for an unknown app.
  public func presence(of id: AppID) -> Presence? { apps.index(of: id).map { apps[$0].visits.presence } }

  /// The background interval in force for an app, set at run time or by its file; nil if no file names the app.
  public func backgroundInterval(of id: AppID) -> BackgroundInterval? {
    apps.index(of: id).flatMap { apps[$0].backgroundInterval }
  }

  /// Whether refreshd learns an app's habits: its file or a person has its refreshes planned.
  public func hasHabits(_ id: AppID) -> Bool { apps.index(of: id).map { apps[$0].hasHabits } ?? false }

  /// Every term of the judgement about an app at an instant, boot clock; nil for an app that is not configured.
  public func explain(_ id: AppID, at now: Instant) -> Explanation? {
    guard let index = apps.index(of: id), let policy = apps[index].policy else { return nil }
    let app = apps[index]
    var explanation = Explanation(verdict: verdict(on: index, at: now))
    let due = app.refreshing == nil ? explanation.verdict.due : judge.due(of: app, at: now)
    (explanation.trigger, explanation.window) = (due?.trigger, due?.window)
    explanation.floor = app.intervalEnd(limits: judge.limits)
    explanation.staleAt = app.timetable.ageBegan.map { $0 + app.maxStale }
    explanation.terms = Constraint.allCases.filter(policy.constraints.asks(for:)).map { constraint in
      let relaxedAt = app.relaxedAt(constraint)
      return Explanation.Term(
        constraint: constraint, isMet: judge.isMet(constraint, by: app, at: now),
        isUnknown: judge.isUnknown(constraint, of: policy.constraints, by: app),
        relaxedAt: relaxedAt, isRelaxed: relaxedAt.map { $0 <= now } ?? false,
        question: Explanation.Question(constraint, of: app))
    }
    explanation.failures = Int(app.timetable.failures)
    explanation.restsUntil = app.timetable.restsUntil.flatMap { $0 > now ? $0 : nil }
    explanation.skippedUntil = app.switches.skippedUntil.flatMap { $0 > now ? $0 : nil }
    explanation.skipsAll = app.switches.skipsAllUntil(at: now) != nil
    explanation.oneShot = app.requests.oneShot
    explanation.drained = app.mailbox.drained
    explanation.pushes = judge.waitingPushes(of: app, at: now)
    explanation.freshUntil = app.timetable.promisedUntil.flatMap { $0 > now ? $0 : nil }
    explanation.reportsStaleAt = judge.reportsStaleAt(app)
    explanation.countsAsOpenedAt = app.visits.countsAsOpenedAt
    (explanation.presence, explanation.isPhaseReported) = (app.visits.presence, app.visits.hasReportedPhase)
    explanation.reportsHeldAt = judge.reportsHeldAt(app, explanation.verdict)
    explanation.change = app.requests.change
    explanation.waiting = app.reports.waiting
    explanation.planning = planning(of: index, at: now)
    return explanation
  }

  private func planning(of index: AppIndex, at now: Instant) -> Explanation.Planning? {
    let app = apps[index]
    guard let plan = planner.plan(of: app, at: index, judge, now: now), let habits = habits(of: apps.id(at: index)),
      let lastStart = app.timetable.lastStart, let spacing = app.spacing(in: .background, limits: judge.limits)
    else { return nil }
    // The end of the interval wins over an earlier ceiling.
    let planned = max(app.plannedInForce ?? now, lastStart + spacing)
    return Explanation.Planning(
      plan: plan, planned: planned, habits: habits, habit: habits.usage.habit(after: judge.clock.local(planned)),
      price: planner.learningsInForce(judge).price, ceiling: lastStart + app.maxStale)
  }

  /// Since when the data of an app is older than `stale_after`, boot clock.
  ///
  /// Nil while it is not, and for an app that need not be fresh: logged out, disabled, not configured, or without
  /// ``Policy/staleAfter``.
  public func staleSince(_ id: AppID, at now: Instant) -> Instant? {
    guard let index = apps.index(of: id), !apps[index].isOff else { return nil }
    return apps[index].turnsStaleAt.flatMap { $0 <= now ? $0 : nil }
  }

  /// Why an app needs attention at an instant, boot clock; nil if all is well with it.
  ///
  /// An app that is switched off or logged out needs none, nor does a guard. A mistake in its file is the configuration's.
  public func trouble(of id: AppID, at now: Instant) -> Trouble? {
    guard let index = apps.index(of: id), let policy = apps[index].policy, policy.guarded == nil else { return nil }
    let app = apps[index]
    guard !app.isOff else { return nil }
    if let streak = app.reports.streak, streak.count >= policy.failuresBeforeNotice ?? Trouble.usualFailures {
      return .failing(Int(streak.count))
    }
    if let until = app.timetable.restsUntil, until > now { return .resting(until: until) }
    let isByTime = app.spacing(in: .background, limits: judge.limits) != nil
    guard let freshAt = app.timetable.freshAt else {
      let first =
        app.timetable.lastStart.map { isByTime ? app.timetable.seenAt ?? $0 : $0 }
        ?? app.timetable.seenAt.flatMap { app.dueByTime(limits: judge.limits, at: $0) }
      return first.flatMap { $0 + Trouble.patience <= now ? .neverWorked(since: $0) : nil }
    }
    let usual =
      isByTime ? max(app.maxStale, app.isPlanned ? Trouble.patienceForPlan : .zero) + Trouble.patience : nil
    guard let lateAt = app.turnsStaleAt ?? usual.map({ freshAt + $0 }), lateAt <= now else { return nil }
    return .late(since: freshAt)
  }

  /// A guard for a person; nil for an app without a guard.
  public func guardState(of id: AppID) -> GuardState? {
    guard let index = apps.index(of: id), let unit = apps[index].policy?.guarded else { return nil }
    return GuardState(
      unit: unit, isKept: apps[index].guarding.keptUnit.flatMap(unit.matching) != nil,
      report: apps[index].guarding.report,
      trouble: apps[index].guarding.trouble)
  }

  /// Whether a question is open, and nothing but questions holds its app.
  public func isAsked(_ run: Run, at now: Instant) -> Bool {
    guard let index = apps.index(of: run.app), apps[index].questions.isAsked(by: run) else { return false }
    let verdict = verdict(on: index, at: now)
    return verdict == .clear || judge.constraintToAsk(in: verdict) != nil
  }

  /// The answers to assume for all open questions: the last answers; yes for a question without an answer.
  ///
  /// A forecast uses them, because it assumes that nothing changes.
  public var assumedAnswers: [Event] {
    // Few of thousands of held apps have questions.
    schedule.followers.filter { !apps[$0].questions.isEmpty }.flatMap { index in
      Constraint.allCases.compactMap { constraint in
        guard let question = apps[index].questions[constraint], let asked = question.asked else { return nil }
        return .answered(
          Run(asked, of: apps.id(at: index), for: .question(constraint)),
          question.answer ?? FactState(isMet: true, text: "not asked yet"))
      }
    }
  }

  // MARK: - Pushes

  /// How many pushes an app may have: the undelivered pushes, and the push that a running refresh delivers.
  public static let mostPushes = Mailbox.mostPushes

  /// The pushes of an app, in order of arrival, including the push of a running refresh.
  public func pushes(of id: AppID) -> [Push] { apps.index(of: id).map { apps[$0].mailbox.pushes } ?? [] }

  /// The push that a running refresh delivers; nil if it delivers none, or is unknown.
  public func push(deliveredBy refresh: RefreshID) -> Push? {
    guard let index = index(of: refresh), let push = apps[index].refreshing?.started.push else { return nil }
    return apps[index].mailbox.push(push)
  }

  /// When the limit lets one more push of an urgency wake the app, boot clock; the past if it does now.
  public func pushLimitFreeAt(for id: AppID, _ urgency: Urgency) -> Instant? {
    apps.index(of: id).flatMap { apps[$0].pushLimitFreeAt(for: urgency) }
  }

  /// How many pushes have woken the app within the span of the limit.
  public func pushesUsed(by id: AppID, at now: Instant) -> Int {
    guard let index = apps.index(of: id), let limit = apps[index].policy?.pushLimit else { return 0 }
    return apps[index].mailbox.used(of: limit, at: now)
  }

  /// The undelivered pushes of an app and their waits at an instant, boot clock.
  public func waitingPushes(of id: AppID, at now: Instant) -> [WaitingPush] {
    apps.index(of: id).map { judge.waitingPushes(of: apps[$0], at: now) } ?? []
  }

  /// Whether the bridge may connect to its sources: the network meets the configuration, and the machine stays awake.
  public var mayBridge: Bool { judge.mayBridge }

  // MARK: - Transfers

  /// Judges a transfer at an instant of the boot clock; nil for an unknown transfer.
  public func transferVerdict(on id: TransferID, at now: Instant) -> TransferVerdict? {
    transfers[id].map { judge.verdict(on: $0, among: transfers.queue, apps, at: now) }
  }

  /// The known transfers, in order of id.
  public var transferIDs: [TransferID] { transfers.queue.ids }

  /// The state of a transfer, for the store; nil for an unknown transfer.
  public func transferState(of id: TransferID) -> TransferState? { transfers[id] }

  /// Whether all transfers of a session have ended; true for a session without transfers.
  public func isDrained(_ session: TransferSession) -> Bool { transfers.queue.sessions[session]?.open ?? 0 == 0 }

  /// How many transfers run, and how many wait or are paused.
  public var transferCounts: (running: Int, waiting: Int) {
    let running = transfers.queue.given.count
    return (running, transfers.queue.openCount - running)
  }

  /// When the transfers must be judged again, boot clock; nil for never.
  public var transferWake: Instant? { transfers.wakeAt }

  /// The start of a running refresh; nil for an unknown refresh.
  public func started(of refresh: RefreshID) -> Started? {
    refreshing(refresh)?.started
  }

  /// The transfers that a refresh reports to the app, in order of id: transfers of its session that ended before its start,
  /// and were not reported before.
  public func transfers(deliveredBy started: Started, to app: AppID) -> [TransferID] {
    transfers.delivered(by: started, to: app)
  }

  /// How often the session that a refresh reports was delivered, this time included; nil for another refresh.
  ///
  /// It is more than 1 if an earlier delivery was cut short, had to be repeated, or may have been lost with the daemon.
  public func tries(deliveredBy refresh: RefreshID) -> Int? {
    guard let app = judge.running.app(of: refresh), let started = started(of: refresh), started.session != nil else {
      return nil
    }
    return max(
      1, transfers(deliveredBy: started, to: app).compactMap { transfers[$0]?.failures }.max().map(Int.init) ?? 1)
  }

  // MARK: - Learning

  /// The habits of an app, as learnt or pinned in its file; nil while nothing is learnt.
  public func habits(of id: AppID) -> Habits? {
    guard let pins = apps.policy(of: id)?.pins, let learned = learned(of: id) else { return nil }
    let device = planner.learningsInForce(judge)
    return Habits(
      usage: learned.usage(device, pins), newDataPerDay: learned.newDataPerDay(device, pins),
      cost: learned.cost(device, pins))
  }

  /// The window of the next night, or of the next slice of a round; nil while no app is planned.
  public var roundWake: Window? { planner.wake }

  /// The learners of an app, for the store; nil while nothing is learnt.
  public func learned(of id: AppID) -> AppHabits? { apps.index(of: id).flatMap { planner.learned(of: $0) } }

  /// How many apps each hold keeps at an instant, boot clock; an app with two holds counts for both.
  public func heldCounts(at now: Instant) -> [Hold.Name: Int] {
    var counts: [Hold.Name: Int] = [:]
    for index in schedule.followers where apps[index].policy != nil {
      for hold in verdict(on: index, at: now).holds { counts[hold.name, default: 0] += 1 }
    }
    return counts
  }

  /// Whether a refresh of an app that starts now has low priority, so that the user's work comes first.
  ///
  /// A person waits for a refresh that was asked for, and for every refresh of an app in front.
  public func givesWay(_ id: AppID, _ trigger: Trigger) -> Bool {
    guard let index = apps.index(of: id), apps[index].policy?.backgroundPriority == .low else { return false }
    return trigger != .manual && trigger != .foreground && apps[index].phase != .foreground
  }

  /// How many refreshes are running, apart from stuck ones.
  public var refreshingCount: Int { judge.running.count }

  /// The stuck refreshes, whose processes no signal ends, with their apps.
  public var stuckRefreshes: [RefreshID: AppID] { judge.running.stuckRefreshes }

  /// When a running refresh is asked to end, boot clock; nil for an unknown refresh.
  public func deadline(of refresh: RefreshID) -> Instant? {
    refreshing(refresh)?.deadline.at
  }

  /// Whether the daemon has not yet performed the start of a running refresh.
  public func isAwaitingBegin(_ refresh: RefreshID) -> Bool {
    refreshing(refresh)?.stage == .started
  }

  /// The refreshes that are running, in order of id.
  public var refreshes: [RefreshID] { judge.running.refreshes }

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

/// Every term of the judgement about one app at one instant.
///
/// Its verdict is ``Engine/verdict(on:at:)``, so that it explains what happens.
public struct Explanation: Hashable, Sendable {
  /// A constraint of the app against the present condition.
  public struct Term: Hashable, Sendable {
    /// The constraint.
    public var constraint: Constraint
    /// Whether the condition meets it now, or is unknown and counts as met.
    public var isMet: Bool
    /// Whether the condition is unknown.
    public var isUnknown: Bool
    /// When the staleness ladder relaxes it, boot clock; nil when it never does.
    public var relaxedAt: Instant?
    /// Whether the ladder has relaxed it.
    public var isRelaxed: Bool
    /// The last answer of the command that is asked; nil for a constraint that no command answers.
    public var question: Question?
  }

  /// An app's own condition that a command answers.
  public struct Question: Hashable, Sendable {
    /// The last answer; nil before the first.
    public var answer: FactState?
    /// When that answer came, boot clock; nil before the first.
    public var answeredAt: Instant?
    /// The earliest next question, boot clock; nil if it is asked as soon as the app is due.
    public var nextAt: Instant?
    /// Whether it is being asked.
    public var isAsked: Bool

    init?(_ constraint: Constraint, of app: App) {
      guard constraint.origin == .asked else { return nil }
      let question = app.questions[constraint]
      (answer, answeredAt, nextAt) = (question?.answer, question?.answeredAt, question?.nextAt)
      isAsked = question?.asked != nil
    }
  }

  /// A plan made at that instant, and its inputs.
  public struct Planning: Hashable, Sendable {
    /// A plan made now.
    public var plan: Plan
    /// When the plan in force has the next background refresh, boot clock.
    public var planned: Instant
    /// The inputs of the plan.
    public var habits: Habits
    /// The habit that the planned refresh comes before; nil if none can be named.
    public var habit: Habit?
    /// Minutes of age that a refresh of cost 1 must save: the machine's price.
    public var price: Double
    /// The last instant that the plan may choose, boot clock: the data then reaches `max_stale`.
    public var ceiling: Instant
  }

  /// The verdict.
  public var verdict: Verdict
  /// Why the next refresh starts; nil if nothing asks for one.
  public var trigger: Trigger?
  /// When the next refresh may start if nothing holds it, boot clock; nil if nothing asks for one.
  public var window: Window?
  /// The end of the interval, boot clock, when the next refresh may start; nil for `never`, and before the first refresh.
  public var floor: Instant?
  /// When the age of the data begins to relax constraints, boot clock; nil before a configuration has named the app.
  public var staleAt: Instant?
  /// The constraints that the app has, in the order of ``Constraint``.
  public var terms: [Term] = []
  /// How many refreshes in a row have failed and are worth a retry.
  public var failures = 0
  /// Until when the app rests because three refreshes overran their deadline within a day, boot clock.
  public var restsUntil: Instant?
  /// Until when refreshes by time are skipped, at the user's request, boot clock.
  public var skippedUntil: Instant?
  /// Whether all refreshes by time are skipped until then.
  public var skipsAll = false
  /// A refresh that a caller requested for a later time.
  public var oneShot: OneShot?
  /// The ended transfer sessions that are to be delivered to the app.
  public var drained: [DrainedSession] = []
  /// The undelivered pushes, in order.
  public var pushes: [WaitingPush] = []
  /// Until when a server promises that there is nothing newer, boot clock; nil without a promise in force.
  public var freshUntil: Instant?
  /// When the daemon reports stale data, unless a refresh comes first, boot clock.
  public var reportsStaleAt: Instant?
  /// When the daemon reports that the refresh waits too long, unless it starts first, boot clock.
  public var reportsHeldAt: Instant?
  /// The app's presence on desktops.
  public var presence = Presence.unknown
  /// Whether a signal or a lease says where the user looks, so that desktops do not count.
  public var isPhaseReported = false
  /// When the presence counts as an opening, boot clock; nil while the app is not in front, or once it has counted.
  public var countsAsOpenedAt: Instant?
  /// The changes in its watched folders that no refresh has followed.
  public var change: LocalChange?
  /// The holds that keep the due app, and since when.
  public var waiting: Waiting?
  /// The plan; nil if the app is not planned, or was never refreshed.
  public var planning: Planning?

  init(verdict: Verdict) { self.verdict = verdict }
}
