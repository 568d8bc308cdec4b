import RefreshEngine

struct StopsInTime: Invariant {
  static let promise =
    "A refresh is told before its deadline, asked to end at it, and killed after its grace, not before."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    let now = world.instant
    for effect in turn.decision.effects {
      switch effect {
      case .start(let id, let app, _, let deadline), .perform(let id, let app, _, let deadline):
        guard let policy = world.book.apps[app]?.policy else { continue }
        if deadline != now + policy.deadline { return "\(id) of \(app) has another deadline than its file says" }
      case .warn(let id, let app, let stop):
        guard let run = turn.before[app]?.run, run.id == id else { continue }
        if turn.event.isSuspending { continue }
        let isLost = world.book.apps[app].map { world.book.unmetToGoOn($0, at: now) } ?? false
        if isLost, stop == now + .seconds(5), stop < run.deadline { continue }
        if now < run.deadline - .seconds(5) || now >= run.deadline { return "\(id) of \(app) is told at a wrong time" }
      case .terminate(let id, let app, .deadline):
        guard let run = turn.before[app]?.run, run.id == id else { continue }
        if now < run.deadline { return "\(id) of \(app) is stopped before its deadline" }
      case .kill(let id, let app):
        guard let run = turn.before[app]?.run, run.id == id else { continue }
        var since = now
        if case .terminating(_, let earlier) = run.stage { since = earlier }
        if let sleep = run.sleep, sleep.kill <= now { continue }
        if now < since + run.grace { return "\(id) of \(app) is killed within its grace" }
      case .reportStuck(let id, let app):
        guard let run = turn.before[app]?.run, run.id == id, let step = run.nextStep else { continue }
        if now < step { return "\(id) of \(app) is given up within ten seconds of SIGKILL" }
      case .startTask, .terminate, .reportStale, .reportHeld, .reportEnd, .ask, .transfer, .stopTransfer, .keep,
        .giveBack,
        .reportLeftUnit:
        continue
      }
    }
    // An adopted refresh takes its next step right afterwards.
    if case .configured = turn.event { return nil }
    for (app, seen) in world.book.apps {
      guard let run = seen.run, let step = run.nextStep, step <= now, run.startedAt < now else { continue }
      if case .terminating(_, let since) = run.stage, since == now { continue }
      return "\(run.id) of \(app) is \(run.stage) although \(step) has passed"
    }
    return nil
  }
}

struct StopReasonsAreHonest: Invariant {
  static let promise = "What was stopped for another reason than its deadline never counts as one that overran it."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for record in turn.decision.changes.history.refreshes {
      guard let run = turn.before[record.app]?.run, run.id == record.id else { continue }
      // A refresh that was not performed ends as soon as something stops it.
      if !run.hasBegun { continue }
      var reason = run.stopReason
      for case .terminate(record.id, _, let given) in turn.decision.effects { reason = given }
      // The service manager may have stopped it while no daemon ran.
      let isTimedOut = reason == nil && record.tasks.contains { $0.outcome == .failed(.stopped(.deadline)) }
      if isTimedOut { continue }
      if record.stopReason != reason { return "\(record.id) has another stop reason than it was given" }
      for task in record.tasks {
        guard case .failed(.stopped(let blamed)) = task.outcome, blamed != reason else { continue }
        return "\(record.id) blames \(blamed)"
      }
      if reason == .deadline, world.instant < run.deadline { return "\(record.id) did not overrun its deadline" }
    }
    return nil
  }
}

extension Bystander.Run {
  var stopReason: StopReason? {
    switch stage {
    case .running, .warned: nil
    case .terminating(let reason, _), .killed(let reason, _), .stuck(let reason): reason
    }
  }
}

struct SignalsNeverWait: Invariant {
  static let promise = "A task is warned, asked to end and killed at once, also while the disk does not answer."
  private var decided: [Effect] = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .daemonGone: decided = []
    case .performed(let effect): decided.removeAll { $0 == effect }
    case .handled(let turn):
      defer { decided += turn.decision.effects.filter { !$0.isSavedFirst } }
      if let late = decided.first, turn.previously != world.instant { return "\(late) was not performed" }
    default: break
    }
    return nil
  }
}

struct SwitchStopsNothing: Invariant {
  static let promise =
    "Only the deadline, the user's word, a lost constraint, sleep and the daemon's own end stop a refresh."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for case .terminate(let id, let app, let reason) in turn.decision.effects {
      let isRight =
        switch reason {
        case .deadline: true
        case .logout: turn.event == .signalled(app, .logout)
        case .user: turn.event == .disabled(app, true)
        case .unconfigured: if case .configured(_, let policies) = turn.event { policies[app] == nil } else { false }
        // The process has left by itself.
        case .notTaken: false
        case .shutdown: if case .stopped(let left) = turn.event { !left.contains(id) } else { false }
        // It should have been before the sleep, but no wake came in time.
        case .sleep: world.book.isSuspending || turn.event == .resumed
        case .constraintLost:
          (turn.before[app]?.run?.lossStop.map { $0 <= world.instant } ?? false)
            || world.book.apps[app].map { world.book.unmetToGoOn($0, at: world.instant) } ?? false
        }
      if !isRight { return "\(id) of \(app) is stopped for \(reason) on \(turn.event)" }
    }
    return nil
  }
}

struct DuplicatesAddNothing: Invariant {
  static let promise = "A signal that says what is so already, and an interval that is set already, change nothing."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, turn.previously == world.instant else { return nil }
    let app: AppID
    switch turn.event {
    case .signalled(let id, _), .leased(_, let id, _), .leaseEnded(_, let id), .overridden(let id, _),
      .shown(let id, _):
      app = id
    default: return nil
    }
    let (before, after) = (turn.before[app], world.book.apps[app])
    guard before?.phase == after?.phase, before?.overrides == after?.overrides else { return nil }
    guard before?.isForeground == after?.isForeground, before?.isTerminated == after?.isTerminated else { return nil }
    return turn.decision.changes.apps.isEmpty ? nil : "\(turn.event) changes \(turn.decision.changes.apps)"
  }
}
