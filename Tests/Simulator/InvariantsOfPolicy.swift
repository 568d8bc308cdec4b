import RefreshEngine

struct PlacesAreBounded: Invariant {
  static let promise = "Nothing starts while as many refreshes run as may beside a new one of its user."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings {
      guard let owner = world.book.apps[new.app]?.run?.owner else { continue }
      let others = world.book.apps.values.compactMap(\.run).filter { $0.id < new.id }
      if world.book.isFull(for: owner, beside: others, at: world.instant) {
        return "\(new.id) of \(new.app) starts beside \(others.count) others"
      }
    }
    return nil
  }
}

struct UsersShareThePlaces: Invariant {
  static let promise = "Nothing starts while as many refreshes of its owner's apps run as may."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let most = world.book.limits.maxConcurrentPerUser else { return nil }
    for new in turn.decision.beginnings {
      guard let owner = world.book.apps[new.app]?.run?.owner else { continue }
      let count = world.book.apps.values.count { $0.run?.owner == owner && $0.run?.holdsSlot == true }
      if count > most { return "\(new.id) of \(new.app) starts as one of \(count) of its owner, and \(most) may run" }
    }
    return nil
  }
}

struct RetriesBackOff: Invariant {
  static let promise = "A temporary failure is tried again after its back-off, not before."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings where new.trigger == .retry {
      let (id, app) = (new.id, new.app)
      guard turn.event.app != app, let before = turn.before[app], !before.mayRetryAtOnce else { continue }
      if turn.decision.changes.history.refreshes.contains(where: { $0.app == app && $0.isCutShort }) { continue }
      guard let from = before.retryFrom else { return "\(id) of \(app) tries again what did not fail" }
      if from > world.instant { return "\(id) of \(app) tries again before \(from)" }
    }
    return nil
  }
}

struct RefusalsAreKept: Invariant {
  static let promise = "Where a server asked for a wait, nothing starts by time before its end."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    for new in turn.decision.beginnings where [.interval, .catchUp, .retry, .change].contains(new.trigger) {
      guard let until = turn.before[new.app]?.refusedUntil, until > world.instant else { continue }
      if turn.decision.changes.history.refreshes.contains(where: { $0.app == new.app }) { continue }
      let isAsked = turn.before[new.app]?.mayRetryAtOnce == true || turn.event.app == new.app
      if isAsked, new.trigger == .retry { continue }
      return "\(new.id) of \(new.app) starts by \(new.trigger) before \(until)"
    }
    return nil
  }
}

struct LostIsNoFailure: Invariant {
  static let promise = "Only what failed counts as failed: a lost constraint leaves the app as it was, and pending."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let brain = world.brain else { return nil }
    for record in turn.decision.changes.history.refreshes {
      guard let state = brain.state(of: record.app), let seen = world.book.apps[record.app] else { continue }
      if Int(state.failures) != seen.failures { return "\(record.app) has \(state.failures) failures" }
      if state.strikes.count != seen.strikes.count { return "\(record.app) has other strikes" }
      if record.trigger == .transfer || record.push != nil { continue }
      guard record.stopReason == .constraintLost || record.stopReason == .sleep, record.isCutShort, seen.policy != nil,
        !seen.isOff
      else { continue }
      if state.request == nil, seen.run == nil { return "\(record.app) lost a constraint and is not pending" }
    }
    return nil
  }
}

struct WaitsAreHonest: Invariant {
  static let promise = "Each wait is recorded once, with its true beginning and end and what it was for."
  private var open: [AppID: Waiting] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard let brain = world.brain else { return nil }
    switch observation {
    case .daemonStarted:
      open = [:]
      for id in world.ids { open[id] = brain.state(of: id)?.waiting }
    case .handled(let turn):
      // Nothing is judged before the first configuration.
      if case .survived = turn.event { return nil }
      if let timeOff = world.book.timeOff {
        for (id, waiting) in open { open[id]?.since = timeOff.pass(waiting.since) }
      }
      for id in world.ids {
        var names: [Hold.Name] = []
        if case .held(let holds, _) = brain.verdict(on: id, at: world.instant) {
          // A question counts as a wait once its command has said no.
          names = holds.areQuestions && !world.book.saidNo(to: id) ? [] : holds.recorded
        }
        // An app that was never configured has nothing to record.
        if brain.state(of: id)?.seenAt == nil { names = [] }
        let records = turn.decision.changes.history.waits.filter { $0.app == id }
        let before = open[id]
        guard names != before?.holds ?? [] else {
          if !records.isEmpty { return "\(id) has a record of a wait that goes on" }
          continue
        }
        open[id] = names.isEmpty ? nil : Waiting(since: world.instant, holds: names)
        let expected = before.map {
          WaitRecord(app: id, since: $0.since, until: world.instant, holds: $0.holds)
        }
        if records != (expected.map { [$0] } ?? []) {
          return "\(id) has \(records) instead of \(String(describing: expected))"
        }
      }
    default: break
    }
    return nil
  }
}

struct OneShotsStartOnce: Invariant {
  static let promise = "A refresh that was asked for later starts once, at its time, not before."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    let now = world.instant
    for new in turn.decision.beginnings where new.trigger == .manual {
      let (id, app) = (new.id, new.app)
      guard let before = turn.before[app], turn.event != .requested(app, .manual), !before.isAskedByHand else {
        continue
      }
      var oneShot = before.oneShot
      if case .scheduled(app, let new) = turn.event { oneShot = new }
      guard let oneShot else { return "\(id) of \(app) starts, and nobody asked" }
      if oneShot.earliest > now { return "\(id) of \(app) starts before its time" }
    }
    for (id, app) in world.book.apps where app.run == nil && !world.book.isFull(for: id, at: now) {
      guard let oneShot = app.oneShot, oneShot.earliest <= now, !world.book.mayHold(id, at: now) else { continue }
      return "\(id) is not started although \(oneShot.earliest) has come"
    }
    return nil
  }
}
