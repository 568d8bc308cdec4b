/// How a refresh, or one task of it, ended.
public enum Outcome: Hashable, Sendable {
  /// There was something new.
  case newData
  /// All went well and nothing was new.
  case noData
  /// It did not do its work.
  case failed(Cause)

  /// An outcome without its cause, by its word on disk, in the journal and between the programs.
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
  /// The command ended with its `retry_exit` code: worth a retry.
  case temporary(Int32)
  /// The command was ended by this signal, which refreshd did not send.
  case signal(Int32)
  /// The command could not be started; why, in one sentence.
  indirect case spawn(String)
  /// The task reported failure itself; what it said, if anything.
  indirect case reported(String)
  /// The task was not run, because the task of this name, which it comes after, failed.
  indirect case notRun(after: String)
  /// refreshd ended it, or did not come to start it, for this reason.
  case stopped(StopReason)
  /// The daemon went down in the middle of it.
  case daemonCrashed
  /// The app's process that had attached went away in the middle of it.
  case lostClient
  /// It was killed because memory ran out: its own bound, or the machine's.
  case outOfMemory

  /// A cause without what comes with it, by its word on disk.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The command ended with an exit code.
    case exit
    /// The command ended with its `retry_exit` code.
    case temporary
    /// A signal ended the command.
    case signal
    /// The command could not be started.
    case spawn
    /// The task reported failure itself.
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

  /// The cause without what comes with it.
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
}

extension Outcome {
  /// The outcome of a group of tasks: any new data, else the first failure, else no data.
  ///
  /// A task that was not run counts only if no task failed, whatever their order in the file.
  public static func ofGroup(_ outcomes: some Sequence<Outcome>) -> Outcome {
    var failure: Outcome?
    var notRun: Outcome?
    for outcome in outcomes {
      switch outcome {
      case .newData: return .newData
      case .failed(.notRun): notRun = notRun ?? outcome
      case .failed: failure = failure ?? outcome
      case .noData: continue
      }
    }
    return failure ?? notRun ?? .noData
  }
}
