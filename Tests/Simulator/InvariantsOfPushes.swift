import RefreshEngine

extension World {
  /// The push that a starting refresh delivers.
  fileprivate func push(deliveredBy new: Beginning) -> Push? { brain?.engine.push(deliveredBy: new.id) }
}

struct PushesAreLimited: Invariant {
  static let promise = "No more pushes wake an app in the window than may, not even over restarts of the daemon."
  /// The time at which each app first received a push, in instants of this boot.
  private var told: [AppID: [PushID: Instant]] = [:]
  private var boot = 1

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    // A full disk loses pushes without a trace, and another boot moves past times by its own clock.
    case .daemonGone: if world.isDiskFull { told = [:] }
    case .daemonStarted:
      if world.boot != boot { told = [:] }
      boot = world.boot
    case .performed(let effect):
      guard let new = effect.beginning, let push = world.push(deliveredBy: new), push.attempts == 1,
        told[new.app]?[push.id] == nil
      else { return nil }
      told[new.app, default: [:]][push.id] = world.instant
      let limit = world.pushLimit
      let recent = told[new.app, default: [:]].values.count { $0 + limit.span > world.instant }
      // The limit counts decisions; a disk that does not answer delays some of them to the same time.
      if recent > limit.burst, !world.hangs { return "\(recent) pushes have woken \(new.app) within \(limit.span)" }
    default: break
    }
    return nil
  }
}

struct PushesWait: Invariant {
  static let promise = "A push wakes no app that the user has ended, nor where its urgency has it wait."

  private var urgencies: [PushID: Urgency] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation else { return nil }
    if case .pushed(_, let push) = turn.event { urgencies[push.id] = push.urgency }
    for new in turn.decision.beginnings {
      guard let push = world.push(deliveredBy: new), let app = world.book.apps[new.app] else { continue }
      // The check missed a push that came just before the daemon's end.
      if let came = urgencies[push.id], push.merged == 0, push.urgency != came {
        return "\(push.id) is of another urgency than it came"
      }
      if app.isTerminated, !app.isAttached { return "\(new.app) is woken for \(push.id) though the user has ended it" }
      if !world.book.allows(push.urgency) { return "\(new.app) is woken for \(push.id), which is \(push.urgency)" }
      if push.earliest > world.instant { return "\(new.app) is told of \(push.id) too early" }
    }
    return nil
  }
}

struct PushesAreTold: Invariant {
  static let promise = "Every push that was saved is told once with an outcome, or its end is in the history."
  private var taken: [PushID: AppID] = [:]
  private var telling: [RefreshID: PushID] = [:]
  private var told: Set<PushID> = []
  private var dropped: Set<PushID> = []
  private var merged: Set<PushID> = []
  /// The refreshes that failed and named a wait: they run again, whatever their cause.
  private var refused: Set<RefreshID> = []

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .daemonStarted:
      for (id, kept) in world.store.pushes { taken[id] = kept.app }
    case .handled(let turn):
      for (id, change) in turn.decision.changes.pushes where change == .merged { merged.insert(id) }
      for record in turn.decision.changes.history.refreshes where !record.outcome.isFresh {
        // A daemon that went down may not have saved the end: the next one ends the refresh without the wait.
        if turn.before[record.app]?.run?.retryAfter != nil {
          refused.insert(record.id)
        } else {
          refused.remove(record.id)
        }
      }
      for new in turn.decision.beginnings {
        guard let push = world.push(deliveredBy: new) else { continue }
        telling[new.id] = push.id
      }
    case .saved(let changes):
      for (id, change) in changes.pushes {
        if case .kept(let app, _) = change { taken[id] = app }
      }
      for drop in changes.history.droppedPushes where !dropped.insert(drop.id).inserted {
        return "\(drop.id) is dropped twice"
      }
      for record in changes.history.refreshes where record.hasTold && !refused.contains(record.id) {
        guard let id = telling[record.id] else { continue }
        if !told.insert(id).inserted { return "\(record.app) is told twice of \(id)" }
      }
      for id in taken.keys.sorted() where world.store.pushes[id] == nil {
        if !told.contains(id), !dropped.contains(id), !merged.contains(id) { return "\(id) is lost" }
        taken[id] = nil
      }
    case .finished:
      for (id, kept) in world.store.pushes.sorted(by: { $0.key < $1.key }) {
        guard let app = world.book.apps[kept.app], app.policy != nil, !app.isOff else { continue }
        return "\(kept.app) is not told of \(id)"
      }
    default: break
    }
    return nil
  }
}

struct PushesAreMerged: Invariant {
  static let promise =
    "Of the pushes of an app that wait no two are about the same, no more wait than may, and the newest is told last."
  /// The newest payload that an app received, for each content id; payloads count up.
  private var newest: [AppID: [String: UInt64]] = [:]

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let brain = world.brain else { return nil }
    // Nothing is checked before the first configuration.
    if case .survived = turn.event { return nil }
    for app in world.ids {
      let telling = brain.state(of: app)?.running?.push
      let waiting = brain.engine.pushes(of: app).filter { $0.id != telling }
      if brain.engine.pushes(of: app).count > Engine.mostPushes { return "\(waiting.count) pushes of \(app) wait" }
      for (place, push) in waiting.enumerated() where waiting[..<place].contains(where: { isSame($0, push) }) {
        return "two pushes of \(app) that wait are about the same"
      }
    }
    for new in turn.decision.beginnings {
      guard let push = world.push(deliveredBy: new), let about = push.contentID, let number = UInt64(push.payload)
      else {
        continue
      }
      if let last = newest[new.app]?[about], last > number { return "\(new.app) is told of \(number) after \(last)" }
      newest[new.app, default: [:]][about] = number
    }
    guard case .pushed(let app, let push) = turn.event, world.book.apps[app]?.policy != nil else { return nil }
    let isThere = brain.engine.pushes(of: app).contains { isSame($0, push) && $0.payload == push.payload }
    return isThere ? nil : "what came for \(app) last is not what it is told of \(push.contentID ?? "it")"
  }

  private func isSame(_ left: Push, _ right: Push) -> Bool {
    left.contentID == right.contentID && (left.contentID != nil || left.payload == right.payload)
  }
}

extension RefreshRecord {
  /// Whether the app received the purpose of the refresh: a task has run to its end, or to its deadline.
  fileprivate var hasTold: Bool {
    if isCutShort || outcome.isTemporary || [.user, .unconfigured, .logout].contains(stopReason) { return false }
    return !tasks.allSatisfy { task in
      switch task.outcome {
      case .failed(.spawn), .failed(.notRun): true
      default: false
      }
    }
  }
}

extension Bystander {
  /// Whether the network and the power supply meet the demands of an urgency.
  fileprivate func allows(_ urgency: Urgency) -> Bool {
    let isOnMains = isKnown(conditions.power) { !$0.onBattery }
    let isUnmetered = isKnown(conditions.network) { $0.reach == .full && ![.yes, .guessYes].contains($0.metered) }
    return switch urgency {
    case .veryLow: isOnMains && isUnmetered
    case .low: isOnMains || isUnmetered
    case .normal: isKnown(conditions.power) { !$0.onBattery || ($0.percent ?? 100) >= 20 }
    case .high: true
    }
  }

  private func isKnown<Value>(_ reading: Reading<Value>, _ test: (Value) -> Bool) -> Bool {
    reading.isUnanswered ? false : reading.value.map(test) ?? limits.unknownIsMet
  }
}
