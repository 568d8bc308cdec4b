extension Wire {
  /// Why a refresh starts.
  public enum Trigger: String, Codable, Hashable, Sendable, CaseIterable {
    /// The interval of the phase has passed since the last start.
    case interval
    /// The app entered the foreground with data that was too old.
    case foreground
    /// A push asked for it.
    case push
    /// The last transfer of a session has ended.
    case transfer
    /// An earlier refresh failed in a way that is worth a retry.
    case retry
    /// It was missed while the machine or the daemon was off.
    case catchUp = "catch_up"
    /// A person asked for it.
    case manual
  }

  /// How a refresh, or one task of it, ended.
  public enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// There was something new.
    case newData = "new_data"
    /// All went well and nothing was new.
    case noData = "no_data"
    /// It did not do its work.
    case failed
  }

  /// What a cause of failure is.
  public enum CauseKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The command ended with the exit code `code`.
    case exit
    /// The command ended with its `retry_exit` code, `code`: worth a retry.
    case temporary
    /// The command was ended by the signal `code`, which refreshd did not send.
    case signal
    /// The command could not be started.
    case spawn
    /// The task reported failure itself.
    case reported
    /// The task was not run, because one that it comes after failed.
    case notRun = "not_run"
    /// Refreshd ended it, or did not come to start it, for the reason in `stop_reason`.
    case stopped
    /// The daemon went down in the middle of it.
    case daemonCrashed = "daemon_crashed"
    /// The app's process that had attached went away in the middle of it.
    case lostClient = "lost_client"
    /// It was killed because memory ran out: its own bound, or the machine's.
    case outOfMemory = "out_of_memory"
  }

  /// Why refreshd itself ended a refresh.
  ///
  /// Only `deadline` counts against the app.
  public enum StopReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// It was still running at its deadline.
    case deadline
    /// A constraint of the app was no longer met.
    case constraintLost = "constraint_lost"
    /// The app was logged out.
    case logout
    /// A person stopped it or removed the app from the configuration.
    case user
    /// The daemon was stopping; the refresh ran again after the next start.
    case shutdown
    /// The machine was going to sleep; the refresh runs again when it wakes up.
    case sleep
  }

  /// Why a refresh or a task failed.
  public struct Cause: Codable, Hashable, Sendable {
    /// What it is.
    public let kind: CauseKind
    /// The exit code of `exit` and `temporary`, the number of the signal of `signal` (signal(7)).
    public let code: Int?
    /// Why refreshd stopped it; with `stopped` only.
    public let stopReason: StopReason?
    /// The cause in words, for a person.
    public let text: String

    /// Makes it of its parts.
    public init(kind: CauseKind, code: Int? = nil, stopReason: StopReason? = nil, text: String) {
      self.kind = kind
      self.code = code
      self.stopReason = stopReason
      self.text = text
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case code
      case stopReason = "stop_reason"
      case text
    }
  }

  /// What one task of a refresh did.
  public struct RefreshTask: Codable, Hashable, Sendable {
    /// The name of the task in the app's file.
    public let name: String
    /// The outcome.
    public let outcome: Outcome
    /// Why it failed; with `failed` only.
    public let cause: Cause?
    /// From the start of the task to its end, microseconds; 0 for one that was not run.
    public let durationMicroseconds: Int64
    /// User and system time of the processes of the task, microseconds.
    public let cpuMicroseconds: Int64
    /// What its processes sent and received over the network, in bytes; only where the service manager counts it.
    public let bytes: Int64?
    /// The last line that it printed, or what it said when it completed; empty if nothing.
    public let message: String

    /// Makes it of its parts.
    public init(
      name: String, outcome: Outcome, cause: Cause? = nil, durationMicroseconds: Int64, cpuMicroseconds: Int64,
      bytes: Int64? = nil, message: String
    ) {
      self.name = name
      self.outcome = outcome
      self.cause = cause
      self.durationMicroseconds = durationMicroseconds
      self.cpuMicroseconds = cpuMicroseconds
      self.bytes = bytes
      self.message = message
    }

    private enum CodingKeys: String, CodingKey {
      case name
      case outcome
      case cause
      case durationMicroseconds = "duration_us"
      case cpuMicroseconds = "cpu_us"
      case bytes
      case message
    }
  }

  /// What one refresh did.
  public struct Refresh: Codable, Hashable, Sendable {
    /// The id of the refresh, such as `12-345`: the daemon's start counter, the number of the refresh within it.
    public let id: String
    /// The app.
    public let app: String
    /// Why it starts.
    public let trigger: Trigger
    /// When it started, microseconds of the wall clock.
    public let startedMicroseconds: Int64
    /// From its start to the end of its last process, microseconds.
    public let durationMicroseconds: Int64
    /// Any new data, else any failure, else no data.
    public let outcome: Outcome
    /// Why it failed: the cause of the first task that failed, in the order of the file; with `failed` only.
    public let cause: Cause?
    /// Why refreshd ended it, if it did.
    public let stopReason: StopReason?
    /// User and system time of all tasks, microseconds.
    public let cpuMicroseconds: Int64
    /// Completions that came after the first for a task, which count for nothing.
    public let extraCompletions: Int
    /// In the order of the file; empty for a refresh that the daemon lost in a crash.
    public let tasks: [RefreshTask]
    /// The `content-id` of the push that it was given; absent if it was given none, or one without.
    public let contentID: String?
    /// How many pushes that push had taken the place of; absent for a refresh that was given no push.
    public let merged: Int?

    /// Makes it of its parts.
    public init(
      id: String, app: String, trigger: Trigger, startedMicroseconds: Int64, durationMicroseconds: Int64,
      outcome: Outcome, cause: Cause? = nil, stopReason: StopReason? = nil, cpuMicroseconds: Int64,
      extraCompletions: Int, tasks: [RefreshTask], contentID: String? = nil, merged: Int? = nil
    ) {
      self.id = id
      self.app = app
      self.trigger = trigger
      self.startedMicroseconds = startedMicroseconds
      self.durationMicroseconds = durationMicroseconds
      self.outcome = outcome
      self.cause = cause
      self.stopReason = stopReason
      self.cpuMicroseconds = cpuMicroseconds
      self.extraCompletions = extraCompletions
      self.tasks = tasks
      self.contentID = contentID
      self.merged = merged
    }

    /// What its tasks said, each behind the task's name where there are several; what is the cause already left out.
    public var messages: [String] {
      let says = tasks.filter { !$0.message.isEmpty && $0.message != $0.cause?.text }
      return says.map { tasks.count == 1 ? $0.message : "\($0.name): \($0.message)" }
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case app
      case trigger
      case startedMicroseconds = "started_us"
      case durationMicroseconds = "duration_us"
      case outcome
      case cause
      case stopReason = "stop_reason"
      case cpuMicroseconds = "cpu_us"
      case extraCompletions = "extra_completions"
      case tasks
      case contentID = "content_id"
      case merged
    }
  }
}
