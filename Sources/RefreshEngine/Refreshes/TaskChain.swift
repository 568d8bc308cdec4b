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
  func turn(of task: Int, _ progress: [Refreshing.Progress]) -> ChainTurn {
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

extension Refreshing {
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
}
