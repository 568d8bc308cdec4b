/// The tasks of one refresh, with their progress and their order.
struct TaskChain: Hashable, Sendable {
  /// The progress of one task.
  enum Progress: Hashable, Sendable {
    /// It waits for the tasks before it.
    case waiting
    /// It runs and has reported nothing.
    case running(since: Instant)
    /// It reported its outcome, and its process still runs.
    case completed(Outcome, message: String, since: Instant)
    /// Its processes have ended.
    case ended(TaskRecord)
  }

  /// The tasks as they were configured at the start.
  let policies: [TaskPolicy]
  private(set) var progress: [Progress]
  /// Completions that came after the first for a task, or after the stop.
  private(set) var extraCompletions = 0
  /// Whether the outcome of a task is a guess, so that nothing is learnt from it.
  private(set) var hasGuess = false
  /// Whether the machine had no means to start a task.
  private(set) var lackedMeans = false
  /// The latest end of an ended task, boot clock.
  private(set) var lastEnd: Instant?

  /// Starts the tasks that wait for no other.
  init(_ policies: [TaskPolicy], at now: Instant) {
    self.policies = policies
    progress = policies.map { $0.after.isEmpty ? .running(since: now) : .waiting }
  }

  /// Makes the tasks of a refresh of the previous daemon.
  ///
  /// A first task that did not survive counts as crashed with that daemon; later tasks may not have begun.
  init(_ policies: [TaskPolicy], survivors: Set<Int>, startedAt: Instant) {
    self.init(policies, at: startedAt)
    for task in policies.indices {
      if survivors.contains(task) {
        progress[task] = .running(since: startedAt)
      } else if policies[task].after.isEmpty {
        skip(task, .daemonCrashed)
      }
    }
  }

  /// Whether all have ended.
  var isDone: Bool {
    progress.allSatisfy { if case .ended = $0 { true } else { false } }
  }

  /// The results of the tasks that have ended.
  var records: [TaskRecord] {
    progress.compactMap { if case .ended(let record) = $0 { record } else { nil } }
  }

  /// Restarts the time of the running tasks, because their start is performed now.
  mutating func restart(at now: Instant) {
    for task in policies.indices { if case .running = progress[task] { progress[task] = .running(since: now) } }
  }

  /// Applies a task's own report of its outcome.
  ///
  /// Only the first report counts, and only before the refresh was stopped.
  mutating func complete(_ task: Int, _ outcome: Outcome, message: String, isStopped: Bool) {
    guard progress.indices.contains(task), progress[task] != .waiting else { return }
    guard !isStopped, case .running(let since) = progress[task] else {
      // A process that was asked to stop may well answer; that answer does not count as one too many.
      if case .running = progress[task] { return }
      extraCompletions += 1
      return
    }
    progress[task] = .completed(outcome, message: message, since: since)
  }

  /// Ends a task whose processes are all gone; returns its result, or nil if it did not run.
  ///
  /// `stop` is the reason for the stop of the refresh, if any. `stopMessage` makes the message of a task that the stop
  /// ended, from the task's own.
  mutating func end(
    _ task: Int, _ end: TaskEnd, stoppedFor stop: StopReason?, _ stopMessage: (String) -> String, at now: Instant
  ) -> TaskRecord? {
    guard progress.indices.contains(task) else { return nil }
    let outcome: Outcome
    var message = end.message
    let begin: Instant
    switch progress[task] {
    case .waiting, .ended: return nil
    case .completed(let said, let text, let since):
      outcome = said
      message = text.isEmpty ? message : text
      begin = since
    case .running(let since):
      outcome = stop.map { .failed(.stopped($0)) } ?? policies[task].judge(end)
      message = stopMessage(message)
      if case .noMeans = end.exit, stop == nil { lackedMeans = true }
      hasGuess = hasGuess || stop == nil && policies[task].isGuess(end)
      begin = since
    }
    let duration = end.duration ?? begin.duration(to: now)
    lastEnd = max(begin + duration, lastEnd ?? begin)
    let record = TaskRecord(
      name: policies[task].name, outcome: outcome, duration: duration, cpu: end.cpu, message: message,
      bytes: end.bytes)
    progress[task] = .ended(record)
    return record
  }

  /// Starts the tasks whose turn has come, and returns them: every task in their `after` has succeeded.
  ///
  /// A task after a failed task is not run, and so on along the chain; each names the first failed task.
  mutating func startNext(at now: Instant) -> [Int] {
    var next: [Int] = []
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for task in policies.indices where progress[task] == .waiting {
        switch policies.turn(of: task, progress) {
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

  /// Gives the waiting tasks, or all tasks, the outcome of a stop.
  mutating func skip(forStop reason: StopReason, all: Bool, message: String) {
    for task in policies.indices where progress[task] == .waiting || all {
      skip(task, .stopped(reason), message: message)
    }
  }

  /// Gives a task that will not run its outcome.
  private mutating func skip(_ task: Int, _ cause: Cause, message: String = "") {
    progress[task] = .ended(
      TaskRecord(name: policies[task].name, outcome: .failed(cause), duration: .zero, cpu: .zero, message: message))
  }
}

/// Whether a waiting task may start.
enum ChainTurn {
  /// Every task in its `after` has succeeded.
  case now
  /// A task in its `after` has not ended.
  case notYet
  /// A task in its `after` has failed, or was not run; the name of the first failed task.
  case never(because: String)
}

extension [TaskPolicy] {
  /// Whether a waiting task may start, by the progress of the others.
  func turn(of task: Int, _ progress: [TaskChain.Progress]) -> ChainTurn {
    var turn = ChainTurn.now
    for before in self[task].after where progress.indices.contains(before) {
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
}
