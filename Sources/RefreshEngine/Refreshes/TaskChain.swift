/// The tasks of one refresh: how far each has come, and which may start.
struct TaskChain: Hashable, Sendable {
  /// The progress of one task.
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

  /// The tasks as they were configured at the start.
  let policies: [TaskPolicy]
  private(set) var progress: [Progress]
  /// Completions that came after the first for a task, or after the stop.
  private(set) var extraCompletions = 0
  /// Whether the outcome of a task is a guess, from which nothing is to be learnt.
  private(set) var hasGuess = false
  /// When the last of the tasks that have ended did so, boot clock.
  private(set) var lastEnd: Instant?

  /// Starts the tasks that come after no other.
  init(_ policies: [TaskPolicy], at now: Instant) {
    self.policies = policies
    progress = policies.map { $0.after.isEmpty ? .running(since: now) : .waiting }
  }

  /// The tasks of a refresh of the previous daemon.
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

  /// Has the running tasks count from now on: their start is performed now.
  mutating func restart(at now: Instant) {
    for task in policies.indices { if case .running = progress[task] { progress[task] = .running(since: now) } }
  }

  /// Takes a task's own word for how it went.
  ///
  /// The first word counts, and none counts after the refresh was stopped.
  mutating func complete(_ task: Int, _ outcome: Outcome, message: String, isStopped: Bool) {
    guard progress.indices.contains(task), progress[task] != .waiting else { return }
    guard !isStopped, case .running(let since) = progress[task] else {
      extraCompletions += 1
      return
    }
    progress[task] = .completed(outcome, message: message, since: since)
  }

  /// Ends a task: all its processes are gone; returns its result, or nil if it did not run.
  ///
  /// - Parameters:
  ///   - stop: why the refresh was stopped, if it was.
  ///   - stopMessage: the message of a task that the stop ended, from its own.
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

  /// Starts the tasks whose turn has come, and gives them: every task in their `after` has succeeded.
  ///
  /// A task after a failed one is not run, and so on along the chain; each names the failure that began it.
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

  /// Gives the waiting tasks, or all of them, the outcome of a stop.
  mutating func skip(forStop reason: StopReason, all: Bool, message: String) {
    for task in policies.indices where progress[task] == .waiting || all {
      skip(task, .stopped(reason), message: message)
    }
  }

  /// Gives a task that is not to be run its outcome.
  private mutating func skip(_ task: Int, _ cause: Cause, message: String = "") {
    progress[task] = .ended(
      TaskRecord(name: policies[task].name, outcome: .failed(cause), duration: .zero, cpu: .zero, message: message))
  }
}

/// Whether a task that waits for others may start.
enum ChainTurn {
  /// Every task in its `after` has succeeded.
  case now
  /// A task in its `after` has not ended.
  case notYet
  /// A task in its `after` has failed; the name is that of the failure that began it.
  case never(because: String)
}

extension [TaskPolicy] {
  /// Whether a waiting task may start, as the others have come so far.
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
