import RefreshEngine

struct AttachedServe: Invariant {
  static let promise = "A refresh is the attached process' while there is one, and the commands' while there is none."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings where world.book.apps[new.app]?.isAttached != new.isAttached {
      return "\(new.id) of \(new.app) begins \(new.isAttached ? "without" : "beside") an attached process"
    }
    return nil
  }
}

struct SurvivorsGoOn: Invariant {
  static let promise = "What outlives the daemon goes on under the next one, and is not called lost."
  private var survivors: Set<RefreshID> = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .daemonStarted: survivors = []
    case .handled(let turn):
      if case .survived(let refresh, _) = turn.event { survivors.insert(refresh) }
      for record in turn.decision.changes.history.refreshes where survivors.contains(record.id) && record.tasks.isEmpty
      {
        return "\(record.id) of \(record.app) is called lost, and is there"
      }
    default: break
    }
    return nil
  }
}

struct SleepIsInTime: Invariant {
  static let promise = "When the machine sleeps, as it said it would, no refresh is left that was not killed."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .sleeps = observation else { return nil }
    for (id, app) in world.book.apps {
      guard let run = app.run else { continue }
      switch run.stage {
      case .killed, .stuck: continue
      case .running, .warned, .terminating: break
      }
      // The wake for it may be due in this very moment.
      if let sleep = run.sleep, sleep.kill >= world.instant { continue }
      return "\(run.id) of \(id) is \(run.stage) when the machine sleeps"
    }
    return nil
  }
}

struct LongWorkMakesRoom: Invariant {
  static let promise =
    "Long work is told as soon as the user is back or the power is gone, and asked to end within five seconds."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, case .observed = turn.event else { return nil }
    for (id, app) in world.book.apps where app.policy?.isProcessing == true {
      guard let run = app.run, run.stopReason == nil, world.book.unmetToGoOn(app, at: world.instant) else { continue }
      if case .warned = run.stage, let end = run.nextStep, end <= world.instant + .seconds(5) { continue }
      return "\(run.id) of \(id) goes on"
    }
    return nil
  }
}
