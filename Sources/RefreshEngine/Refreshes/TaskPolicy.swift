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

/// How the end of a task tells new data from no data.
public enum NewData: Hashable, Sendable {
  /// By exit code: 0 is new data, `no_data_exit` is no data.
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
