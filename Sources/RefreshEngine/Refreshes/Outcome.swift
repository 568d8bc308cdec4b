/// How a refresh, or one task of it, ended.
public enum Outcome: Hashable, Sendable {
  /// There was something new.
  case newData
  /// All went well and nothing was new.
  case noData
  /// It did not do its work.
  case failed(Cause)

  /// An outcome without its cause, named as on disk, in the journal and between the programs.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// New data.
    case newData = "new-data"
    /// No data.
    case noData = "no-data"
    /// A failure.
    case failed
  }

  /// The outcome without its cause.
  public var kind: Kind {
    switch self {
    case .newData: .newData
    case .noData: .noData
    case .failed: .failed
    }
  }

  /// Makes an outcome; nil for a failure without a cause.
  public init?(_ kind: Kind, _ cause: @autoclosure () -> Cause?) {
    switch kind {
    case .newData: self = .newData
    case .noData: self = .noData
    case .failed:
      guard let cause = cause() else { return nil }
      self = .failed(cause)
    }
  }

  /// Whether the data is as fresh as the start of the refresh.
  public var isFresh: Bool { kind != .failed }
}

/// Why a refresh or a task failed.
///
/// Texts are behind a pointer, because the last outcome of each app is kept in memory and few have a text.
public enum Cause: Hashable, Sendable {
  /// The command ended with this exit code.
  case exit(Int32)
  /// The command ended with its `retry_exit` code, and is worth a retry.
  case temporary(Int32)
  /// A signal, which refreshd did not send, ended the command.
  case signal(Int32)
  /// The command could not be started; the reason in one sentence.
  indirect case spawn(String)
  /// The task itself reported failure; its message, if any.
  indirect case reported(String)
  /// The task was not run, because a task before it failed; the name of the failed task.
  indirect case notRun(after: String)
  /// refreshd ended the task, or never started it, for this reason.
  case stopped(StopReason)
  /// The daemon crashed while the task ran.
  case daemonCrashed
  /// The attached process of the app went away during the refresh.
  case lostClient
  /// The task was killed because memory ran out: its own bound, or the machine's.
  case outOfMemory

  /// A cause without its details, named as on disk.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The command ended with an exit code.
    case exit
    /// The command ended with its `retry_exit` code.
    case temporary
    /// A signal ended the command.
    case signal
    /// The command could not be started.
    case spawn
    /// The task itself reported failure.
    case reported
    /// The task was not run.
    case notRun = "not-run"
    /// refreshd ended it.
    case stopped
    /// The daemon went down.
    case daemonCrashed = "daemon-crashed"
    /// The attached process went away.
    case lostClient = "lost-client"
    /// Memory ran out.
    case outOfMemory = "out-of-memory"
  }

  /// The cause without its details.
  public var kind: Kind {
    switch self {
    case .exit: .exit
    case .temporary: .temporary
    case .signal: .signal
    case .spawn: .spawn
    case .reported: .reported
    case .notRun: .notRun
    case .stopped: .stopped
    case .daemonCrashed: .daemonCrashed
    case .lostClient: .lostClient
    case .outOfMemory: .outOfMemory
    }
  }
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
  /// A person disabled the app.
  case user
  /// The app was taken out of the configuration.
  case unconfigured
  /// The daemon is stopping; the refresh runs again after the next start.
  case shutdown
  /// The machine is going to sleep; the refresh runs again when it wakes up.
  case sleep
  /// The app's process, which the session bus had started, left before it took the refresh; the refresh runs again.
  case notTaken = "not-taken"
}

extension Outcome {
  /// The outcome of a group of tasks, the worst of its tasks: the first failure, else any new data, else no data.
  ///
  /// A task that was not run counts only if no task failed, in any order of the file.
  public static func ofGroup(_ outcomes: some Sequence<Outcome>) -> Outcome {
    var notRun: Outcome?
    var best = Outcome.noData
    for outcome in outcomes {
      switch outcome {
      case .failed(.notRun): notRun = notRun ?? outcome
      case .failed: return outcome
      case .newData: best = .newData
      case .noData: continue
      }
    }
    return notRun ?? best
  }
}

/// The result of one refresh: a line of the history.
public struct RefreshRecord: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Its app.
  public var app: AppID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var startedAt: Instant
  /// When its last process ended, boot clock; for a refresh that the daemon lost, when the daemon came back.
  public var endedAt: Instant
  /// The outcome of the group: the first failure, else any new data, else no data.
  public var outcome: Outcome
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?
  /// The completions after the first of each task, which are ignored.
  public var extraCompletions: Int
  /// The tasks, in the order of the file; empty for a lost refresh, and for a sync by the app itself.
  public var tasks: [TaskRecord]
  /// The push that it delivered; nil when it delivered none.
  public var push: DeliveredPush?

  /// Whether any task found new data, also if another failed.
  var foundNew: Bool { outcome == .newData || tasks.contains { $0.outcome == .newData } }

  /// The bytes that all tasks sent and received over the network; nil if they were not counted.
  public var bytes: Int64? {
    let counted = tasks.compactMap(\.bytes)
    return counted.isEmpty ? nil : counted.reduce(0, +)
  }

  /// Makes a record from its parts.
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

extension RefreshRecord {
  /// Whether no process of its tasks ran.
  var hasStartedNothing: Bool {
    !tasks.isEmpty
      && tasks.allSatisfy { task in
        switch task.outcome {
        case .failed(.spawn), .failed(.notRun): true
        default: false
        }
      }
  }

  /// Whether a person stopped it, directly or by the app's file.
  var isStoppedByPerson: Bool { [.user, .unconfigured, .logout].contains(stopReason) }

  /// Whether a stop other than the deadline ended a task.
  var isUnfinished: Bool {
    tasks.contains { task in
      guard case .failed(.stopped(let reason)) = task.outcome else { return task.isCutShort }
      return reason != .deadline
    }
  }
}

/// The end of one task, for a caller that waits for the task and not for the whole refresh.
public struct EndedTask: Hashable, Sendable {
  /// The refresh.
  public var refresh: RefreshID
  /// Its app.
  public var app: AppID
  /// The result.
  public var record: TaskRecord
  /// The deadline of the refresh at that moment, boot clock.
  public var deadline: Instant

  /// Makes an ended task from its parts.
  public init(_ refresh: RefreshID, of app: AppID, _ record: TaskRecord, deadline: Instant) {
    (self.refresh, self.app, self.record, self.deadline) = (refresh, app, record, deadline)
  }
}

/// The result of one task of a refresh.
public struct TaskRecord: Hashable, Sendable {
  /// The task's name in the app's file.
  public var name: String
  /// From the task's start to its end; zero for a task that was not run.
  public var duration: Duration
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last line that the task printed, or the message of its completion; empty if none.
  ///
  /// For a task that a lost constraint stopped, ``lostConstraint``.
  public var message: String
  /// The bytes that its processes sent and received over the network; nil if they were not counted.
  public var bytes: Int64?
  /// How it ended.
  public var outcome: Outcome

  /// The first word of ``lostConstraint``, which earlier daemons did not write.
  static let lacking = "needed "

  /// The needed and the present condition, for a task that a lost constraint stopped; nil otherwise.
  public var lostConstraint: String? {
    outcome == .failed(.stopped(.constraintLost)) && message.hasPrefix(Self.lacking) ? message : nil
  }

  /// The first words of the message of a task that a person let expire.
  static let expired = "expired on request"

  /// The cause of a stop where its reason alone does not say it: ``lostConstraint``, or that a person let it expire.
  public var stopDetail: String? {
    if outcome == .failed(.stopped(.deadline)), message.hasPrefix(Self.expired) { return Self.expired }
    return lostConstraint
  }

  /// Makes a record from its parts.
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

extension TaskRecord {
  /// Whether the daemon, a lost constraint or sleep stopped the task, and not the task itself or the user.
  var isCutShort: Bool {
    if outcome == .failed(.daemonCrashed) { return true }
    guard case .failed(.stopped(let reason)) = outcome else { return false }
    return reason == .shutdown || reason == .constraintLost || reason == .sleep
      || reason == .notTaken
  }
}
