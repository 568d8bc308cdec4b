/// The policy of one task: its name and how its end is judged.
public struct TaskPolicy: Hashable, Sendable {
  /// The task's name, unique in its app.
  public var name: String
  /// How success is split into new data and no data.
  public var newData: NewData
  /// The exit code for "no data"; 100 unless the file says otherwise.
  public var noDataExit: Int32
  /// The exit code of a failure worth a retry; 75, EX_TEMPFAIL of `sysexits.h`, unless the file says otherwise.
  public var retryExit: Int32
  /// The tasks that must succeed before this task starts, as positions from 0 in the app's list, without a cycle; empty,
  /// the default, for a task that starts with the refresh.
  public var after: [Int] = []

  /// Makes a task's policy with the default exit codes.
  public init(name: String, newData: NewData = .exit, noDataExit: Int32 = 100, retryExit: Int32 = 75) {
    self.name = name
    self.newData = newData
    self.noDataExit = noDataExit
    self.retryExit = retryExit
  }
}

/// How the end of a task shows whether there was new data.
public enum NewData: Hashable, Sendable {
  /// By exit code: 0 means new data, `no_data_exit` means no data.
  case exit
  /// Exit 0 is new data if the task printed anything, else no data.
  case output
  /// Exit 0 is new data if the path changed while the task ran, else no data. Nothing is learnt from it if the path could
  /// not be read.
  case changed(path: String)
}

extension TaskPolicy {
  /// Judges the end of a task's command.
  ///
  /// `no_data_exit` and `retry_exit` come before 0, so that a file may give 0 another meaning.
  public func judge(_ end: TaskEnd) -> Outcome {
    switch end.exit {
    case .notStarted(let reason), .noMeans(let reason): .failed(.spawn(reason))
    case .signalled(let signal): .failed(.signal(signal))
    case .outOfMemory: .failed(.outOfMemory)
    case .timedOut: .failed(.stopped(.deadline))
    case .lostClient: .failed(.lostClient)
    case .notTaken: .failed(.stopped(.notTaken))
    case .exited(noDataExit): .noData
    case .exited(let code) where code == retryExit: .failed(.temporary(code))
    case .exited(0): hasNewData(end) ? .newData : .noData
    case .exited(let code): .failed(.exit(code))
    }
  }

  private func hasNewData(_ end: TaskEnd) -> Bool {
    switch newData {
    case .exit: true
    case .output: end.printed
    case .changed: end.changed ?? false
    }
  }

  /// Whether the outcome "no data" is a guess, because the path could not be read.
  func isGuess(_ end: TaskEnd) -> Bool {
    guard case .changed = newData, end.changed == nil else { return false }
    return judge(end) == .noData && end.exit == .exited(0)
  }
}

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
  /// Whether a task could not start for lack of processes or memory.
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

/// How the processes of one task ended, as the launcher saw it.
public struct TaskEnd: Hashable, Sendable {
  /// The end of the task's main process.
  public enum Exit: Hashable, Sendable {
    /// It exited with this code.
    case exited(Int32)
    /// A signal ended it.
    case signalled(Int32)
    /// It was never started; the reason in one sentence.
    case notStarted(String)
    /// It was never started, because the machine had no process or memory to spare; the reason in one sentence.
    case noMeans(String)
    /// Memory ran out.
    case outOfMemory
    /// systemd stopped the process at the deadline, while no daemon ran.
    case timedOut
    /// The attached process that performed the refresh is gone, or no longer answers.
    case lostClient
    /// The attached process that was to perform the refresh quit at once, because it was about to end anyway.
    case notTaken
  }

  /// How the main process ended.
  public var exit: Exit
  /// Whether anything was printed, on standard output or standard error.
  public var printed: Bool
  /// Whether the path of ``NewData/changed(path:)`` changed while the task ran; nil if unknown.
  public var changed: Bool?
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last printed line, without its end and cut to 200 bytes; empty if none.
  public var message: String
  /// The bytes that the task's processes sent and received over the network; nil if they were not counted.
  public var bytes: Int64?
  /// How long it ran, if its end is reported late; nil for until now.
  public var duration: Duration?

  /// Makes an end from its parts.
  public init(
    exit: Exit, printed: Bool = false, changed: Bool? = false, cpu: Duration = .zero, message: String = "",
    bytes: Int64? = nil, duration: Duration? = nil
  ) {
    self.exit = exit
    self.printed = printed
    self.changed = changed
    self.cpu = cpu
    self.message = message
    self.bytes = bytes
    self.duration = duration
  }
}
