/// A refresh whose processes are running.
///
/// The stages, and what leads from one to the next; a test compares this list with what the simulator sees.
/// Terminating, killed and stuck are the steps of `Stage.ending`:
///
///     started     -> running      the deadline is more than five seconds away
///     started     -> warned       the deadline is five seconds away or less
///     running     -> warned       five seconds before the deadline, when the machine goes to sleep, or when a
///                                 constraint is lost or a person lets it expire, with five seconds to go
///     running     -> terminating  deadline (the warning was slept over), logout, user, unconfigured, shutdown
///     warned      -> running      the constraint is met again
///     warned      -> terminating  deadline, constraint-lost, logout, user, unconfigured, shutdown, sleep
///     terminating -> killed       the grace has passed
///     killed      -> stuck        its processes are still there ten seconds later
///
/// From any stage it ends when the last of its tasks has ended. With a driver that reports the performed start, it stays
/// started until then; a refresh that is stopped before that ends at once, because nothing runs.
struct Refreshing: Hashable, Sendable {
  /// The stages of a refresh.
  enum Stage: Hashable, Sendable {
    /// Its start is not performed yet, so its deadline does not run.
    case started
    /// Its deadline is not near.
    case running
    /// It was warned that its deadline is near.
    case warned
    /// It was asked to end, or killed, and some of its processes remain.
    case ending(StopReason, TerminationSequence)
  }

  /// The saved start; its instant is set by ``startDeadline(at:)`` if the start waited for the disk.
  private(set) var started: Started
  /// When it is asked to end.
  private(set) var deadline: Deadline
  /// How long it may take to end after SIGTERM.
  let grace: Duration
  /// The user whose slot it takes.
  let owner: UInt32
  private(set) var stage: Stage
  /// Whether it has run for so long that it counts against its own user only.
  private(set) var isAged = false
  /// The tasks and their progress.
  private(set) var tasks: TaskChain
  /// The stop before the machine sleeps; nil while it does not go to sleep.
  private var sleep: SleepStop?
  /// The stop for a lost constraint; nil while no constraint is lost.
  private var loss: LossStop?
  /// The needed and the present condition, if a lost constraint stopped it; else empty.
  private var stopDetail = ""
  /// Whether a person has let it expire.
  private var isExpired = false
  /// Hints of its tasks about the next refresh.
  var hints = ServerHints()

  /// Makes a refresh; if it `beginsLater`, ``startDeadline(at:)`` follows when the start is performed.
  init(_ started: Started, policy: Policy, isAttached: Bool = false, beginsLater: Bool = false) {
    self.started = started
    deadline = Deadline(from: started.at, policy: policy)
    grace = policy.grace
    owner = policy.owner
    tasks = TaskChain(isAttached ? [TaskPolicy(name: "app")] : policy.tasks, at: started.at)
    stage = beginsLater ? .started : deadline.isWarned ? .running : .warned
  }

  /// Resumes a refresh of the previous daemon, with the tasks that have survived.
  init(_ started: Started, policy: Policy, survivors: Set<Int>, at now: Instant) {
    self.init(started, policy: policy)
    deadline.postpone(for: now)
    tasks = TaskChain(policy.tasks, survivors: survivors, startedAt: started.at)
  }

  /// A start that was saved within this time counts from the decision, so that it is not saved again.
  private static let shortWait = Duration.seconds(1)

  /// Starts the deadline: the start is performed now.
  mutating func startDeadline(at now: Instant) {
    guard stage == .started else { return }
    deadline.restart(at: now)
    if started.at.duration(to: now) >= Self.shortWait { started.at = now }
    stage = deadline.isWarned ? .running : .warned
    tasks.restart(at: now)
  }

  /// Whether its processes outlived SIGKILL, so that it no longer holds a slot.
  var isStuck: Bool { if case .ending(_, let sequence) = stage { sequence.isGivenUp } else { false } }

  /// The reason for which the daemon ends it, if it does.
  var stopReason: StopReason? {
    switch stage {
    case .started, .running, .warned: nil
    case .ending(let reason, _): reason
    }
  }

  /// When time ends the stage, boot clock; nil if it does not.
  var wake: Instant? {
    switch stage {
    case .started: nil
    case .running: deadline.warnsAt
    case .warned: min(endsAt, loss?.stopAt ?? endsAt)
    case .ending(_, let sequence): sequence.wake
    }
  }

  /// When it counts against its own user only, boot clock; nil if it does, or if its start is not performed yet.
  private var agesAt: Instant? { isAged || isStuck || stage == .started ? nil : started.at + Slots.sharedFor }

  /// When time changes its stage or its slot, boot clock; nil if it does not.
  var nextChange: Instant? { [wake, agesAt].compactMap(\.self).min() }

  /// Lets it count against its own user only, if it has run for long enough; true the first time.
  mutating func age(at now: Instant) -> Bool {
    guard let agesAt, agesAt <= now else { return false }
    isAged = true
    return true
  }

  /// When it is asked to end, unless a constraint is lost.
  private var endsAt: Instant { min(deadline.at, sleep?.stopAt ?? deadline.at) }

  var isDone: Bool { tasks.isDone }

  /// Advances to the due stage, one step a call; nil if none is due.
  ///
  /// A refresh that slept past its deadline still has its grace from now.
  mutating func advance(app: AppID, at now: Instant) -> Effect? {
    guard let wake, wake <= now else { return nil }
    switch stage {
    case .started: return nil
    case .running where now < deadline.at:
      stage = .warned
      return .warn(started.id, app, deadline: deadline.at)
    case .running, .warned:
      // The machine may have slept over both stops: the earlier counts.
      if let loss, loss.stopAt <= endsAt { return stop(.constraintLost, because: loss.detail, app: app, at: now) }
      return stop(deadline.at <= now ? .deadline : .sleep, app: app, at: now)
    case .ending(let reason, var sequence):
      let step = sequence.advance(at: now)
      stage = .ending(reason, sequence)
      return switch step {
      case .kill: .kill(started.id, app)
      case .giveUp: .reportStuck(started.id, app)
      case .terminate, nil: nil
      }
    }
  }

  /// Asks it to end, unless it was asked before: the first reason counts.
  ///
  /// No further task starts. A refresh that has not begun is done.
  mutating func stop(_ reason: StopReason, because detail: String = "", app: AppID, at now: Instant) -> Effect? {
    guard stopReason == nil else { return nil }
    stopDetail = detail
    let hasBegun = stage != .started
    var sequence = TerminationSequence(grace: grace)
    sequence.begin(at: now, killBy: sleep?.killAt)
    stage = .ending(reason, sequence)
    tasks.skip(forStop: reason, all: !hasBegun, message: detail)
    return hasBegun ? .terminate(started.id, app, reason) : nil
  }

  /// Warns it that a constraint is lost, and stops it after the lead of a warning.
  ///
  /// Stops it at once if its deadline has no warning either. `detail` has the needed and the present condition.
  mutating func lose(_ detail: String, app: AppID, at now: Instant) -> Effect? {
    guard stopReason == nil, loss == nil else { return nil }
    guard stage != .started, deadline.isWarned else { return stop(.constraintLost, because: detail, app: app, at: now) }
    let stopAt = now + Deadline.warningLead
    guard stopAt < endsAt else { return nil }
    loss = LossStop(stopAt: stopAt, detail: detail)
    stage = .warned
    return .warn(started.id, app, deadline: stopAt)
  }

  /// Ends it as its deadline would, at a person's request: warns it now, and stops it 5 s later.
  ///
  /// Stops it at once if it has not begun, was warned already, or has no warning before its deadline.
  mutating func expire(app: AppID, at now: Instant) -> Effect? {
    isExpired = true
    guard stage == .running else { return stop(.deadline, app: app, at: now) }
    deadline.bringForward(at: now)
    stage = .warned
    return .warn(started.id, app, deadline: deadline.at)
  }

  /// Lets it go on, because its constraints are met again.
  mutating func regain(at now: Instant) {
    guard stage == .warned, loss != nil else { return }
    loss = nil
    if sleep == nil, now < deadline.warnsAt { stage = .running }
  }

  /// Warns it before the machine sleeps, and stops it a grace before that; after half of the time left if that is short.
  mutating func sleep(at end: Instant, app: AppID, from now: Instant) -> Effect? {
    sleep = SleepStop(stopAt: end - min(grace, now.duration(to: end).part(of: 2)), killAt: end)
    switch stage {
    case .started: return stop(.sleep, app: app, at: now)
    case .running:
      stage = .warned
      return .warn(started.id, app, deadline: min(deadline.at, end))
    case .ending(let reason, var sequence):
      sequence.bringForward(killBy: end)
      stage = .ending(reason, sequence)
      return nil
    case .warned:
      return nil
    }
  }

  /// Lets it go on, because the machine is awake.
  mutating func stayAwake() { sleep = nil }

  /// Applies a task's own report of its outcome.
  mutating func complete(task: Int, _ outcome: Outcome, message: String) {
    tasks.complete(task, outcome, message: message, isStopped: stopReason != nil)
  }

  /// Ends a task whose processes are all gone; returns its result, or nil if it did not run.
  mutating func end(task: Int, _ end: TaskEnd, at now: Instant) -> TaskRecord? {
    tasks.end(task, end, stoppedFor: stopReason, stopMessage, at: now)
  }

  /// The message for a task that a stop ended, from the task's own message.
  private func stopMessage(_ said: String) -> String {
    let message = stopDetail.isEmpty ? said : stopDetail
    guard isExpired, stopReason == .deadline else { return message }
    return message.isEmpty ? TaskRecord.expired : "\(TaskRecord.expired): \(message)"
  }

  /// Starts the tasks whose turn has come, and returns them.
  mutating func startNext(at now: Instant) -> [Int] { tasks.startNext(at: now) }

  /// The record for the history, after the last task.
  func record(of app: AppID, at now: Instant) -> RefreshRecord {
    let records = tasks.records
    // The deadline may have passed while no daemon ran, and an app may have left by itself.
    let ownStop = [StopReason.deadline, .notTaken].first { reason in
      records.contains { $0.outcome == .failed(.stopped(reason)) }
    }
    return RefreshRecord(
      id: started.id, app: app, trigger: started.trigger, startedAt: started.at,
      endedAt: min(tasks.lastEnd ?? now, now),
      outcome: .ofGroup(records.map(\.outcome)), stopReason: stopReason ?? ownStop,
      extraCompletions: tasks.extraCompletions, tasks: records)
  }
}

// Stops before the deadline of a refresh, which also come with a warning.

/// The stop before the machine sleeps.
struct SleepStop: Hashable, Sendable {
  /// When the refresh is asked to end, boot clock.
  let stopAt: Instant
  /// When it is killed, boot clock.
  let killAt: Instant
}

/// The stop for a lost constraint.
struct LossStop: Hashable, Sendable {
  /// When the refresh is asked to end, boot clock.
  let stopAt: Instant
  /// The needed and the present condition.
  let detail: String
}

/// The instant at which a refresh is asked to end, and the warning before it.
struct Deadline: Hashable, Sendable {
  /// How long before the deadline the app is warned.
  static let warningLead = Duration.seconds(5)

  /// When the refresh is asked to end, boot clock.
  private(set) var at: Instant
  /// How long the refresh may take.
  private let span: Duration

  /// Makes the deadline of a refresh that starts at an instant.
  init(from start: Instant, policy: Policy) { (at, span) = (start + policy.deadline, policy.deadline) }

  /// Whether the refresh is long enough for a warning.
  var isWarned: Bool { span > Self.warningLead }

  /// Restarts the whole deadline at an instant, when the processes start.
  mutating func restart(at now: Instant) { at = now + span }

  /// Brings the deadline forward to the lead of a warning from now.
  mutating func bringForward(at now: Instant) { at = min(at, now + Self.warningLead) }

  /// When the app is warned, boot clock.
  var warnsAt: Instant { at - Self.warningLead }

  /// Postpones a deadline that is near or past, for a refresh that survived its daemon.
  ///
  /// The launcher reports a task that ended without a daemon a moment later; the deadline must not pass before that.
  mutating func postpone(for now: Instant) { at = max(at, now + Self.warningLead) }
}

/// Hints of a refresh about the next one, merged over its tasks: `Retry-After` and `max-age` of the servers.
public struct ServerHints: Hashable, Sendable {
  /// The longest wait that a task may ask for.
  static let longestRetryAfter = Duration.hours(24)
  /// The longest time for which a task may promise that there is nothing newer.
  ///
  /// The app's ceiling may start a refresh earlier all the same.
  static let longestFreshFor = Duration.hours(24)

  /// The shortest wait after a failed refresh before its retry; nil if no task named a wait.
  public private(set) var retryAfter: Duration?
  /// How long after a successful refresh there is nothing newer; nil if no task promised it.
  public private(set) var freshFor: Duration?

  /// Makes empty hints.
  public init() {}

  /// Merges a wait that one task asks for: the longest wait counts.
  public mutating func merge(retryAfter wait: Duration) {
    retryAfter = max(retryAfter ?? .zero, min(wait, Self.longestRetryAfter))
  }

  /// Merges a time of freshness that one task promises: the shortest counts.
  public mutating func merge(freshFor span: Duration) {
    freshFor = min(freshFor ?? span, span, Self.longestFreshFor)
  }

  /// Decides which freshness a task merges into its refresh.
  ///
  /// The only task of a refresh speaks for the refresh. With several tasks, `fresh_for` counts only if every task
  /// fetches. A missing value then means zero: that task may have new data at once.
  ///
  /// - Parameters:
  ///   - promised: the promise of the task, if any.
  ///   - tasks: for each task of the refresh whether it fetches; empty for an attached process.
  /// - Returns: the freshness to merge; nil to merge nothing.
  public static func freshFor(_ promised: Duration?, tasks: [Bool]) -> Duration? {
    guard tasks.count > 1 else { return promised }
    return tasks.allSatisfy(\.self) ? promised ?? .zero : nil
  }
}
