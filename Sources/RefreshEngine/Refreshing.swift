/// A refresh whose processes are running.
///
/// The stages, and what leads from one to the next; a test holds this list against what the simulator sees:
///
///     started     -> running      the deadline is more than five seconds away
///     started     -> warned       the deadline is five seconds away or less
///     running     -> warned       five seconds before the deadline
///     running     -> terminating  deadline (the warning was slept over), constraint-lost, logout, user, shutdown
///     warned      -> terminating  deadline, constraint-lost, logout, user, shutdown
///     terminating -> killed       the grace has passed
///
/// From any stage it ends when the last of its tasks has ended.
struct Refreshing: Hashable, Sendable {
  /// How far the refresh is on its way to its end.
  enum Stage: Hashable, Sendable {
    /// Its time is not up.
    case running
    /// It was told that its time is nearly up.
    case warned
    /// It was asked to end.
    case terminating(StopReason, killAt: Instant)
    /// It was killed, and its processes are not all gone yet.
    case killed(StopReason)
  }

  /// What is known of one task.
  enum Progress: Hashable, Sendable {
    /// It runs and has said nothing.
    case running
    /// It said how it went, and its process still runs.
    case completed(Outcome, message: String)
    /// It is gone.
    case ended(TaskRecord)
  }

  /// How long before the deadline the app is told (FEATURES B1).
  static let warningLead = Duration.seconds(5)

  /// What was saved of the start.
  let started: Started
  /// When it is asked to end, boot clock.
  let deadline: Instant
  /// How long it may take to end when asked.
  let grace: Duration
  /// The tasks as they were configured at the start.
  let tasks: [TaskPolicy]
  private(set) var stage: Stage
  private(set) var progress: [Progress]
  private(set) var extraCompletions = 0

  init(_ started: Started, policy: Policy) {
    self.started = started
    deadline = started.at + policy.deadline
    grace = policy.grace
    tasks = policy.tasks
    stage = policy.deadline > Self.warningLead ? .running : .warned
    progress = Array(repeating: .running, count: policy.tasks.count)
  }

  /// Why the daemon ends it, if it does.
  var stopReason: StopReason? {
    switch stage {
    case .running, .warned: nil
    case .terminating(let reason, _), .killed(let reason): reason
    }
  }

  /// When the stage ends by time, if it does.
  var wake: Instant? {
    switch stage {
    case .running: deadline - Self.warningLead
    case .warned: deadline
    case .terminating(_, let killAt): killAt
    case .killed: nil
    }
  }

  var isDone: Bool {
    progress.allSatisfy { if case .ended = $0 { true } else { false } }
  }

  /// Goes on to the stage that is due, one step for every call; nil when none is.
  ///
  /// Who slept past the deadline still has the grace, counted from now.
  mutating func advance(app: AppID, at now: Instant) -> Effect? {
    guard let wake, wake <= now else { return nil }
    switch stage {
    case .running where now < deadline:
      stage = .warned
      return .warn(started.id, app, deadline: deadline)
    case .running, .warned:
      return stop(.deadline, app: app, at: now)
    case .terminating(let reason, _):
      stage = .killed(reason)
      return .kill(started.id, app)
    case .killed:
      return nil
    }
  }

  /// Asks it to end, unless it was asked before: the first reason counts.
  mutating func stop(_ reason: StopReason, app: AppID, at now: Instant) -> Effect? {
    guard stopReason == nil else { return nil }
    stage = .terminating(reason, killAt: now + grace)
    return .terminate(started.id, app, reason)
  }

  /// Takes a task's own word for how it went.
  ///
  /// The first word counts, and none counts after the refresh was stopped.
  mutating func complete(task: Int, _ outcome: Outcome, message: String) {
    guard progress.indices.contains(task) else { return }
    guard stopReason == nil, case .running = progress[task] else {
      extraCompletions += 1
      return
    }
    progress[task] = .completed(outcome, message: message)
  }

  /// Takes note that all processes of a task are gone.
  mutating func end(task: Int, _ end: TaskEnd, at now: Instant) {
    guard progress.indices.contains(task) else { return }
    let outcome: Outcome
    var message = end.message
    switch progress[task] {
    case .ended: return
    case .completed(let said, let text):
      outcome = said
      message = text.isEmpty ? message : text
    case .running:
      outcome = stopReason.map { .failed(.stopped($0)) } ?? tasks[task].judge(end)
    }
    progress[task] = .ended(
      TaskRecord(
        name: tasks[task].name, outcome: outcome, duration: started.at.duration(to: now), cpu: end.cpu,
        message: message))
  }

  /// The line for the history, when all tasks have ended.
  func record(of app: AppID, at now: Instant) -> RefreshRecord {
    let records = progress.compactMap { if case .ended(let record) = $0 { record } else { nil } }
    return RefreshRecord(
      id: started.id, app: app, trigger: started.trigger, startedAt: started.at, endedAt: now,
      outcome: .ofGroup(records.map(\.outcome)), stopReason: stopReason, extraCompletions: extraCompletions,
      tasks: records)
  }
}
