import RefreshEngine

struct ClockStepMovesNothing: Invariant {
  static let promise = "A step of the wall clock within a boot moves nothing but quiet hours and the night."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard !world.hasQuiet, !world.isPlanned, case .handled(let turn) = observation, var without = turn.engineBefore,
      let after = world.brain
    else {
      return nil
    }
    let decision = without.handle(.wokeUp, at: world.instant)
    if decision != turn.decision { return "it leads to \(turn.decision.effects) instead of \(decision.effects)" }
    for id in world.ids where without.state(of: id) != after.state(of: id) { return "it changes \(id)" }
    return nil
  }
}

struct TimeOffCounts: Invariant {
  static let promise =
    "The first large step of a boot's clock counts as time off for all that was restored, and no more."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, turn.event.isClockStep, let brain = world.brain else { return nil }
    for (id, app) in world.book.apps {
      guard let state = brain.state(of: id) else { continue }
      if state.lastStart != app.lastStart {
        return "\(id) started at \(String(describing: state.lastStart)), not \(String(describing: app.lastStart))"
      }
      if state.freshAt != app.freshAt { return "\(id) has data of \(String(describing: state.freshAt))" }
      if app.run == nil, state.oneShot != app.oneShot { return "\(id) is asked for at another time" }
    }
    return brain.engine.device.pause == world.book.pause
      ? nil : "the pause is \(String(describing: brain.engine.device.pause))"
  }
}

struct ForegroundIsExact: Invariant {
  static let promise =
    "In the foreground a refresh starts at the last start plus the interval, unless something holds it."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain, !world.book.isStopping else { return nil }
    for (id, app) in world.book.apps where app.phase == .foreground && app.run == nil {
      if app.refusedUntil != nil { continue }
      guard !app.countsFromEntry, let due = app.dueByTime(world.book.limits, at: world.instant) else { continue }
      if world.book.isFull(for: id, at: world.instant) || world.book.mayHold(id, at: world.instant) { continue }
      if due <= world.instant { return "\(id) is due since \(due) and \(brain.verdict(on: id, at: world.instant))" }
      guard let wake = brain.nextWake, wake.latest <= due else { return "nothing wakes the daemon at \(due) for \(id)" }
    }
    return nil
  }
}

struct BacklogIsSpread: Invariant {
  static let promise = "A backlog is caught up over minutes after a start of the daemon, not in one stampede."
  /// Many times the average of one a second: two backlogs overlap when the daemon is killed in the middle of one, and a
  /// timer that fires two seconds late collects the missed starts.
  private static let most = 20
  private var since: Instant?
  private var starts: [Instant] = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .daemonStarted: (since, starts) = (world.instant, [])
    case .resumed, .sleeps, .daemonGone: since = nil
    case .handled(let turn):
      // A hold on many apps ends for all of them at one time.
      if turn.event.app == nil, turn.event != .wokeUp { return nil }
      guard let since, world.instant < since + .minutes(5) else { return nil }
      for new in turn.decision.beginnings {
        let isOwed = [.interval, .catchUp, .retry].contains(new.trigger)
        guard isOwed, world.book.apps[new.app]?.phase == .background else { continue }
        starts.append(world.instant)
      }
      starts.removeAll { $0 + .seconds(1) < world.instant }
      if starts.count > Self.most { return "\(starts.count) apps start within one second" }
    default: break
    }
    return nil
  }
}

struct FreshInTheEnd: Invariant {
  static let promise =
    "When nothing goes wrong any more, every app that is refreshed by time is fresh within its interval."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .finished = observation, let healedAt = world.healedAt else { return nil }
    guard let brain = world.brain else { return "no daemon is there" }
    let healed = Instant(microseconds: (healedAt - world.bootedAt).inMicroseconds)
    for id in world.policies.keys.sorted() {
      guard let app = world.book.apps[id], !app.isOff, app.spacing(world.book.limits) != nil else { continue }
      if let skippedUntil = app.skippedUntil, skippedUntil > healed { continue }
      guard let fresh = brain.state(of: id)?.freshAt, fresh >= healed else {
        return "\(id) is stale and \(brain.verdict(on: id, at: world.instant))"
      }
    }
    return nil
  }
}
