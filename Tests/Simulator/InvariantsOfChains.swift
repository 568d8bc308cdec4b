import RefreshEngine

struct ChainsAreInOrder: Invariant {
  static let promise =
    "A task starts once, when all that it comes after have ended well, and never after a stop; what did not is no success."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for case .startTask(let id, let app, let task) in turn.decision.effects {
      guard let before = turn.before[app]?.run, before.id == id, let run = world.book.apps[app]?.run else {
        return "task \(task) of \(app) starts without a refresh"
      }
      if run.stopReason != nil { return "task \(task) of \(app) starts although \(id) was stopped" }
      if before.started.contains(task) { return "task \(task) of \(app) starts twice" }
      if !run.mayStart(task) { return "task \(task) of \(app) starts before what it comes after has ended well" }
    }
    for (app, seen) in world.book.apps {
      guard let run = seen.run, run.stopReason == nil else { continue }
      // A refresh that was lost with the daemon has its outcome.
      let left = run.tasks.indices.first { !run.started.contains($0) && run.ended[$0] == nil && run.mayStart($0) }
      if let left { return "task \(left) of \(app) is not started although its time has come" }
    }
    for record in turn.decision.changes.history.refreshes {
      guard let run = turn.before[record.app]?.run, run.id == record.id else { continue }
      for (task, end) in record.tasks.enumerated() where !run.started.contains(task) && end.outcome.isFresh {
        return "\(end.name) of \(record.id) has ended well without a start"
      }
    }
    return nil
  }
}

extension Bystander.Run {
  /// Whether all tasks that it comes after have ended well.
  fileprivate func mayStart(_ task: Int) -> Bool {
    tasks.indices.contains(task) && tasks[task].after.allSatisfy { ended[$0]?.isFresh == true }
  }
}
