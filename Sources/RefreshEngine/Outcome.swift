/// How a refresh, or one task of it, ended.
public enum Outcome: Hashable, Sendable {
  /// There was something new.
  case newData
  /// All went well and nothing was new.
  case noData
  /// It did not do its work.
  case failed(Cause)

  /// Whether the data is as fresh as the start of the refresh.
  public var isFresh: Bool {
    if case .failed = self { false } else { true }
  }
}

/// Why a refresh or a task failed (FEATURES B2).
public enum Cause: Hashable, Sendable {
  /// The command ended with this exit code.
  case exit(Int32)
  /// The command ended with its `retry_exit` code: worth a retry.
  case temporary(Int32)
  /// The command was ended by this signal, which refreshd did not send.
  case signal(Int32)
  /// The command could not be started; why, in one sentence.
  case spawn(String)
  /// The task reported failure itself; what it said, if anything.
  case reported(String)
  /// The task was not run, because the task of this name, which it comes after, failed (FEATURES B7).
  case notRun(after: String)
  /// refreshd ended it, or did not come to start it, for this reason.
  case stopped(StopReason)
  /// The daemon went down in the middle of it.
  case daemonCrashed
  /// The app's process that had attached went away in the middle of it (FEATURES B6).
  case lostClient
  /// It was killed because memory ran out: its own bound, or the machine's.
  case outOfMemory
}

/// Why refreshd itself ended a refresh.
///
/// Only `deadline` counts against the app.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// It was still running at its deadline.
  case deadline
  /// A constraint of the app was no longer met.
  case constraintLost = "constraint-lost"
  /// The app was logged out.
  case logout
  /// A person stopped it or removed the app from the configuration.
  case user
  /// The daemon is stopping; the refresh runs again after the next start.
  case shutdown
  /// The machine is going to sleep; the refresh runs again when it wakes up (FEATURES B9).
  case sleep
}

/// What one task of a refresh did.
public struct TaskRecord: Hashable, Sendable {
  /// The task's name in the app's file.
  public var name: String
  /// How it ended.
  public var outcome: Outcome
  /// From the task's start to its end; zero for one that was not run.
  public var duration: Duration
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last line that it printed, or what it said when it completed; empty if nothing.
  public var message: String
  /// What its processes sent and received over the network, in bytes; nil when nobody counted.
  public var bytes: Int64?

  /// Makes a record of its parts.
  public init(
    name: String, outcome: Outcome, duration: Duration, cpu: Duration, message: String, bytes: Int64? = nil
  ) {
    self.name = name
    self.outcome = outcome
    self.duration = duration
    self.cpu = cpu
    self.message = message
    self.bytes = bytes
  }
}

/// What one refresh did: a line of the history.
public struct RefreshRecord: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Its app.
  public var app: AppID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var startedAt: Instant
  /// When its last process ended, boot clock; when the daemon came back, for one that it lost.
  public var endedAt: Instant
  /// The outcome of the group: any new data, else any failure, else no data (DESIGN section 4).
  public var outcome: Outcome
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?
  /// Completions that came after the first for a task, which count for nothing.
  public var extraCompletions: Int
  /// The tasks, in the order of the file; empty for a refresh that the daemon lost.
  public var tasks: [TaskRecord]
  /// The push that the app was told with it; nil when it told none.
  public var push: ToldPush?

  /// What all tasks sent and received over the network, in bytes; nil when nobody counted.
  public var bytes: Int64? {
    let counted = tasks.compactMap(\.bytes)
    return counted.isEmpty ? nil : counted.reduce(0, +)
  }

  /// Makes a record of its parts.
  public init(
    id: RefreshID, app: AppID, trigger: Trigger, startedAt: Instant, endedAt: Instant, outcome: Outcome,
    stopReason: StopReason? = nil, extraCompletions: Int = 0, tasks: [TaskRecord] = []
  ) {
    self.id = id
    self.app = app
    self.trigger = trigger
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.stopReason = stopReason
    self.extraCompletions = extraCompletions
    self.tasks = tasks
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
    /// It was never started; why, in one sentence.
    case notStarted(String)
    /// Memory ran out.
    case outOfMemory
    /// Whoever ran it stopped it at the deadline, while no daemon was there to do so.
    case timedOut
    /// The attached process that did the refresh is gone, or no longer answers.
    case lostClient
  }

  /// How the main process ended.
  public var exit: Exit
  /// Whether anything was printed, on standard output or standard error.
  public var printed: Bool
  /// Whether what is at the path of ``NewData/changed(path:)`` changed while the task ran.
  public var changed: Bool
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last line that was printed, without its end and cut to 200 bytes; empty if nothing was.
  public var message: String
  /// What the task's processes sent and received over the network, in bytes; nil when nobody counted.
  public var bytes: Int64?
  /// How long it ran, where its end is told late; nil for until now.
  public var duration: Duration?

  /// Makes an end of its parts.
  public init(
    exit: Exit, printed: Bool = false, changed: Bool = false, cpu: Duration = .zero, message: String = "",
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
