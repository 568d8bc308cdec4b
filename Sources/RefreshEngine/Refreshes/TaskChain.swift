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
