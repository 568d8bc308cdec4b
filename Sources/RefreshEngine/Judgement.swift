extension TaskPolicy {
  /// What the end of a task's command means (DESIGN section 4, "Results").
  ///
  /// `no_data_exit` and `retry_exit` come before 0, so that a file may give 0 another meaning.
  public func judge(_ end: TaskEnd) -> Outcome {
    switch end.exit {
    case .notStarted(let reason): .failed(.spawn(reason))
    case .signalled(let signal): .failed(.signal(signal))
    case .outOfMemory: .failed(.outOfMemory)
    case .timedOut: .failed(.stopped(.deadline))
    case .lostClient: .failed(.lostClient)
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
    case .changed: end.changed
    }
  }
}

extension Outcome {
  /// The outcome of a group of tasks: any new data, else the first failure, else no data (DESIGN section 4).
  ///
  /// A task that was not run stands behind the one that it was not run for, wherever that stands in the file.
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
