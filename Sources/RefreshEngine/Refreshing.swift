/// A refresh whose processes are running.
///
/// The stages, and what leads from one to the next; a test holds this list against what the simulator sees:
///
///     started     -> running      the deadline is more than five seconds away
///     started     -> warned       the deadline is five seconds away or less
///     running     -> warned       five seconds before the deadline, or when the machine goes to sleep
///     running     -> terminating  deadline (the warning was slept over), constraint-lost, logout, user, shutdown
///     warned      -> terminating  deadline, constraint-lost, logout, user, shutdown, sleep
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
    /// It waits for the tasks that it comes after.
    case waiting
    /// It runs and has said nothing.
    case running(since: Instant)
    /// It said how it went, and its process still runs.
    case completed(Outcome, message: String, since: Instant)
    /// It is gone.
    case ended(TaskRecord)
  }

  /// How long before the deadline the app is told (FEATURES B1).
  static let warningLead = Duration.seconds(5)

  /// What was saved of the start.
  let started: Started
  /// When it is asked to end, boot clock.
  private(set) var deadline: Instant
  /// How long it may take to end when asked.
  let grace: Duration
  /// The user whose place it takes.
  let owner: UInt32
  /// The tasks as they were configured at the start.
  let tasks: [TaskPolicy]
  private(set) var stage: Stage
  private(set) var progress: [Progress]
  private(set) var extraCompletions = 0
  /// When the last of the tasks that have ended did so, boot clock.
  private var lastEnd: Instant?
  /// Until when it must be gone, because the machine goes to sleep; nil while it does not.
  private var sleep: Sleep?
  /// How long after its end it is tried again at the earliest, if it fails; nil for what its failure says.
  var retryAfter: Duration?
  /// For how long after its end there is nothing newer, if it does not fail; nil when nobody said so.
  var freshFor: Duration?

  /// The way to sleep.
  private struct Sleep: Hashable, Sendable {
    /// When it is asked to end, boot clock.
    let stopAt: Instant
    /// When it is killed, boot clock.
    let killAt: Instant
  }

  init(_ started: Started, policy: Policy, isAttached: Bool = false) {
    self.started = started
    deadline = started.at + policy.deadline
    grace = policy.grace
    owner = policy.owner
    tasks = isAttached ? [TaskPolicy(name: "app")] : policy.tasks
    stage = policy.deadline > Self.warningLead ? .running : .warned
    progress = tasks.map { $0.after.isEmpty ? .running(since: started.at) : .waiting }
  }

  /// Goes on with a refresh that the daemon before this one began, with those of its tasks that are there still.
  ///
  /// A task that had to be there and is not was lost with that daemon; what comes after others may not have begun. One
  /// that ended in time while nobody looked is told of after this, so a deadline that has passed is not held against it
  /// for a moment.
  init(_ started: Started, policy: Policy, survivors: Set<Int>, at now: Instant) {
    self.init(started, policy: policy)
    deadline = max(deadline, now + Self.warningLead)
    for task in tasks.indices {
      if survivors.contains(task) {
        progress[task] = .running(since: started.at)
      } else if tasks[task].after.isEmpty {
        skip(task, .daemonCrashed)
      }
    }
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
    case .warned: min(deadline, sleep?.stopAt ?? deadline)
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
      return stop(deadline <= now ? .deadline : .sleep, app: app, at: now)
    case .terminating(let reason, _):
      stage = .killed(reason)
      return .kill(started.id, app)
    case .killed:
      return nil
    }
  }

  /// Asks it to end, unless it was asked before: the first reason counts.
  ///
  /// No further task starts.
  mutating func stop(_ reason: StopReason, app: AppID, at now: Instant) -> Effect? {
    guard stopReason == nil else { return nil }
    stage = .terminating(reason, killAt: min(now + grace, sleep?.killAt ?? now + grace))
    for task in tasks.indices where progress[task] == .waiting { skip(task, .stopped(reason)) }
    return .terminate(started.id, app, reason)
  }

  /// Has it end by itself before the machine sleeps, or else be stopped in time: at half of what is left (FEATURES B9).
  mutating func sleep(at end: Instant, app: AppID, from now: Instant) -> Effect? {
    sleep = Sleep(stopAt: end - min(grace, now.duration(to: end).part(of: 2)), killAt: end)
    switch stage {
    case .running:
      stage = .warned
      return .warn(started.id, app, deadline: min(deadline, end))
    case .terminating(let reason, let killAt):
      stage = .terminating(reason, killAt: min(killAt, end))
      return nil
    case .warned, .killed:
      return nil
    }
  }

  /// Has it go on: the machine is awake.
  mutating func stayAwake() { sleep = nil }

  /// Takes a task's own word for how it went.
  ///
  /// The first word counts, and none counts after the refresh was stopped.
  mutating func complete(task: Int, _ outcome: Outcome, message: String) {
    guard progress.indices.contains(task), progress[task] != .waiting else { return }
    guard stopReason == nil, case .running(let since) = progress[task] else {
      extraCompletions += 1
      return
    }
    progress[task] = .completed(outcome, message: message, since: since)
  }

  /// Takes note that all processes of a task are gone.
  mutating func end(task: Int, _ end: TaskEnd, at now: Instant) {
    guard progress.indices.contains(task) else { return }
    let outcome: Outcome
    var message = end.message
    let begin: Instant
    switch progress[task] {
    case .waiting, .ended: return
    case .completed(let said, let text, let since):
      outcome = said
      message = text.isEmpty ? message : text
      begin = since
    case .running(let since):
      outcome = stopReason.map { .failed(.stopped($0)) } ?? tasks[task].judge(end)
      begin = since
    }
    let duration = end.duration ?? begin.duration(to: now)
    lastEnd = max(begin + duration, lastEnd ?? begin)
    progress[task] = .ended(
      TaskRecord(
        name: tasks[task].name, outcome: outcome, duration: duration, cpu: end.cpu, message: message,
        bytes: end.bytes))
  }

  /// Starts the tasks whose turn has come, and gives them: all that they come after have ended well (FEATURES B7).
  ///
  /// Those that come after one that failed are not run, and so on along the chain, each for the failure that began it.
  mutating func startNext(at now: Instant) -> [Int] {
    var next: [Int] = []
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for task in tasks.indices where progress[task] == .waiting {
        switch turn(of: task) {
        case .notYet: continue
        case .now:
          progress[task] = .running(since: now)
          next.append(task)
        case .never(let name): skip(task, .notRun(after: name))
        }
        hasChanged = true
      }
    }
    return next
  }

  /// Whether a waiting task may start.
  private enum Turn { case now, notYet, never(because: String) }

  private func turn(of task: Int) -> Turn {
    var turn = Turn.now
    for before in tasks[task].after where progress.indices.contains(before) {
      guard case .ended(let record) = progress[before] else {
        turn = .notYet
        continue
      }
      switch record.outcome {
      case .newData, .noData: continue
      case .failed(.notRun(let name)): return .never(because: name)
      case .failed: return .never(because: record.name)
      }
    }
    return turn
  }

  /// Gives a task that is not to be run its outcome.
  private mutating func skip(_ task: Int, _ cause: Cause) {
    progress[task] = .ended(
      TaskRecord(name: tasks[task].name, outcome: .failed(cause), duration: .zero, cpu: .zero, message: ""))
  }

  /// The line for the history, when all tasks have ended.
  func record(of app: AppID, at now: Instant) -> RefreshRecord {
    let records = progress.compactMap { if case .ended(let record) = $0 { record } else { nil } }
    // Nobody may have been there to see the deadline.
    let isTimedOut = records.contains { $0.outcome == .failed(.stopped(.deadline)) }
    return RefreshRecord(
      id: started.id, app: app, trigger: started.trigger, startedAt: started.at, endedAt: min(lastEnd ?? now, now),
      outcome: .ofGroup(records.map(\.outcome)), stopReason: stopReason ?? (isTimedOut ? .deadline : nil),
      extraCompletions: extraCompletions,
      tasks: records)
  }
}
