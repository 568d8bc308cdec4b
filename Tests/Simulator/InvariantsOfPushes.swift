import RefreshEngine

extension World {
  /// The push that a refresh which is about to begin tells.
  fileprivate func push(toldBy new: Beginning) -> Push? { brain?.engine.push(toldBy: new.id) }
}

struct PushesAreLimited: Invariant {
  static let promise = "No more pushes wake an app in the window than may, not even over restarts of the daemon."
  /// When each app was told of a push for the first time, in instants of this boot.
  private var told: [AppID: [PushID: Instant]] = [:]
  private var boot = 1

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    // What a full disk forgets nobody knows, and what another boot makes of the past its own clock says.
    case .daemonGone: if world.isDiskFull { told = [:] }
    case .daemonStarted:
      if world.boot != boot { told = [:] }
      boot = world.boot
    case .performed(let effect):
      guard let new = effect.beginning, let push = world.push(toldBy: new), push.attempts == 1,
        told[new.app]?[push.id] == nil
      else { return nil }
      told[new.app, default: [:]][push.id] = world.instant
      let limit = world.pushLimit
      let recent = told[new.app, default: [:]].values.count { $0 + limit.span > world.instant }
      if recent > limit.burst { return "\(recent) pushes have woken \(new.app) within \(limit.span)" }
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
      guard let push = world.push(toldBy: new), let app = world.book.apps[new.app] else { continue }
      if push.merged == 0, push.urgency != urgencies[push.id] { return "\(push.id) is of another urgency than it came" }
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

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    switch observation {
    case .handled(let turn):
      for new in turn.decision.beginnings {
        guard let push = world.push(toldBy: new) else { continue }
        telling[new.id] = push.id
      }
    case .saved(let batch):
      for (id, change) in batch.pushes {
        if case .kept(let app, _) = change { taken[id] = app }
      }
      for drop in batch.dropped where !dropped.insert(drop.id).inserted { return "\(drop.id) is dropped twice" }
      for record in batch.records where !record.isCutShort && !record.outcome.isTemporary {
        guard let id = telling[record.id] else { continue }
        if !told.insert(id).inserted { return "\(record.app) is told twice of \(id)" }
      }
      for id in taken.keys.sorted() where world.store.pushes[id] == nil {
        if !told.contains(id), !dropped.contains(id) { return "\(id) is lost" }
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
    "What came last of what is about the same is told or waits, once; and no more pushes of an app wait than may."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, case .pushed(let app, let new) = turn.event,
      let brain = world.brain, world.book.apps[app]?.policy != nil
    else { return nil }
    let telling = brain.state(of: app)?.running?.push
    let waiting = brain.engine.pushes(of: app).filter { $0.id != telling }
    if waiting.count > 64 { return "\(waiting.count) pushes of \(app) wait" }
    if waiting.count(where: { isSame($0, new) }) > 1 { return "two pushes of \(app) that wait are about the same" }
    let isThere = brain.engine.pushes(of: app).contains { isSame($0, new) && $0.payload == new.payload }
    return isThere ? nil : "what came for \(app) last is not what it is told of \(new.contentID ?? "it")"
  }

  private func isSame(_ left: Push, _ right: Push) -> Bool {
    left.contentID == right.contentID && (left.contentID != nil || left.payload == right.payload)
  }
}

extension Bystander {
  /// Whether the network and the power supply are what an urgency asks for.
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
    reading.isAwaited ? false : reading.value.map(test) ?? limits.unknownIsMet
  }
}
