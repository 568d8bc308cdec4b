// Pushes: which push wakes the app next, and when.

extension Engine {
  /// How many pushes an app may have: the waiting pushes, and the push that a running refresh delivers.
  ///
  /// The delivered push counts, because it waits again if its refresh is cut short.
  public static let mostPushes = 64

  /// The pushes of an app, in order of arrival, including the push of a running refresh.
  public func pushes(of id: AppID) -> [Push] { apps.index(of: id).map { apps[$0].pushes } ?? [] }

  /// The push that a running refresh delivers; nil if it delivers none, or is unknown.
  public func push(deliveredBy refresh: RefreshID) -> Push? {
    guard let index = index(of: refresh), let push = apps[index].refreshing?.started.push else { return nil }
    return apps[index].pushes.first { $0.id == push }
  }

  /// When the limit lets one more push of an urgency wake the app, boot clock; the past if it does now.
  public func pushLimitFreeAt(for id: AppID, _ urgency: Urgency) -> Instant? {
    apps.index(of: id).flatMap { apps[$0].pushLimitFreeAt(for: urgency) }
  }

  /// How many pushes have woken the app within the span of the limit.
  public func pushesUsed(by id: AppID, at now: Instant) -> Int {
    guard let index = apps.index(of: id), let limit = apps[index].policy?.pushLimit else { return 0 }
    return apps[index].state.pushedAt.count { $0 + limit.span > now }
  }

  /// Whether the bridge may connect to its sources: the network meets the configuration, and the machine stays awake.
  public var mayBridge: Bool { judge.mayBridge }

  /// Receives a push, and merges it into a waiting push that it replaces.
  mutating func receive(_ push: Push, for id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil,
      !apps[index].pushes.contains(where: { $0.id == push.id })
    else { return }
    turn.touch(index)
    apps[index].pushes.append(push)
    turn.decision.changes.pushes[push.id] = .kept(id, push)
    tidy(index, &turn)
  }

  /// Merges and drops waiting pushes: after a new push, a refresh that was cut short, or a start of the daemon.
  private mutating func tidy(_ index: AppIndex, _ turn: inout Turn) {
    while let (older, newer) = apps[index].pushesToMerge { merge(newer, into: older, of: index, &turn) }
    while apps[index].pushes.count > Self.mostPushes, let dropped = apps[index].pushToDrop {
      drop(dropped, of: index, &turn)
    }
  }

  /// Tidies the pushes of all apps, also of apps that are not configured.
  mutating func tidyPushes(_ turn: inout Turn) {
    for index in apps.indexes where !apps[index].pushes.isEmpty { tidy(index, &turn) }
  }

  /// Merges a newer push into an older push; neither is delivered, so the limit counts the merged push.
  private mutating func merge(_ newer: Push, into older: Push, of index: AppIndex, _ turn: inout Turn) {
    guard let place = apps[index].pushes.firstIndex(where: { $0.id == older.id }) else { return }
    var kept = older
    kept.payload = newer.payload
    kept.urgency = max(older.urgency, newer.urgency)
    (kept.arrivedAt, kept.earliest, kept.attempts) = (newer.arrivedAt, newer.earliest, newer.attempts)
    kept.merged = Int32(clamping: Int64(older.merged) + Int64(newer.merged) + 1)
    forget(newer, of: index, &turn)
    set(kept, at: place, of: index, &turn)
    turn.decision.changes.pushes[newer.id] = .merged
  }

  private mutating func drop(_ push: Push, of index: AppIndex, _ turn: inout Turn) {
    forget(push, of: index, &turn)
    turn.decision.changes.history.droppedPushes.append(
      DroppedPush(
        id: push.id, app: apps.id(at: index), contentID: push.contentID, arrivedAt: push.arrivedAt, droppedAt: turn.now,
        merged: push.merged))
  }

  private mutating func set(_ push: Push, at place: Int, of index: AppIndex, _ turn: inout Turn) {
    apps[index].pushes[place] = push
    turn.decision.changes.pushes[push.id] = .kept(apps.id(at: index), push)
  }

  private mutating func forget(_ push: Push, of index: AppIndex, _ turn: inout Turn) {
    apps[index].pushes.removeAll { $0.id == push.id }
    turn.decision.changes.pushes[push.id] = .gone
  }

  /// The undelivered pushes of an app and their waits at an instant, boot clock.
  public func waitingPushes(of id: AppID, at now: Instant) -> [WaitingPush] {
    apps.index(of: id).map { apps[$0].pushes.isEmpty ? [] : judge.waitingPushes(of: apps[$0], at: now) } ?? []
  }

  // MARK: - Delivery

  /// Counts an attempt to deliver a push; only the first attempt counts for the limit.
  mutating func countAttempt(_ push: Push, of index: AppIndex, _ turn: inout Turn) {
    guard let limit = apps[index].policy?.pushLimit,
      let place = apps[index].pushes.firstIndex(where: { $0.id == push.id })
    else { return }
    if push.attempts == 0 {
      apps[index].state.pushedAt = (apps[index].state.pushedAt + [turn.now]).suffix(limit.burst)
    }
    var delivered = push
    delivered.attempts += 1
    set(delivered, at: place, of: index, &turn)
  }

  /// When to deliver a push again; nil if it is delivered.
  ///
  /// A refresh that the user stopped, or whose tasks could not start, has not delivered its push.
  func retryOfPush(
    _ index: AppIndex, _ started: Started, _ record: RefreshRecord, retryAt: Instant?, at now: Instant
  ) -> Instant? {
    if let retryAt { return retryAt }
    if record.isStoppedByPerson { return now }
    guard record.hasStartedNothing else { return nil }
    let attempts = apps[index].pushes.first { $0.id == started.push }?.attempts ?? 1
    return now + Self.retryWait(after: attempts, of: apps.id(at: index), judge.spread)
  }

  /// Resolves the push of a refresh: it is delivered, or waits for another delivery.
  mutating func resolvePush(
    _ index: AppIndex, _ started: Started, retryAt: Instant?, _ turn: inout Turn
  ) -> DeliveredPush? {
    guard let place = apps[index].pushes.firstIndex(where: { $0.id == started.push }) else { return nil }
    var push = apps[index].pushes[place]
    let delivered = DeliveredPush(contentID: push.contentID, merged: push.merged)
    if let retryAt {
      push.earliest = retryAt
      set(push, at: place, of: index, &turn)
      tidy(index, &turn)
    } else {
      forget(push, of: index, &turn)
    }
    return delivered
  }

  /// When to deliver again the push that the previous daemon was delivering at its end.
  ///
  /// The first retry is due at once. Later retries wait for the back-off, because the push may have crashed the daemon.
  func retryOfLostPush(_ index: AppIndex, _ started: Started, at now: Instant) -> Instant {
    let attempts = apps[index].pushes.first { $0.id == started.push }?.attempts ?? 0
    return attempts < 2 ? now : now + Self.retryWait(after: attempts, of: apps.id(at: index), judge.spread)
  }
}

extension Judge {
  /// Whether the bridge may connect to its sources: the network meets the configuration, and the machine stays awake.
  var mayBridge: Bool {
    var constraints = Constraints()
    constraints.network = limits.pushNetwork
    return !life.isSuspending && isNetworkMet(constraints)
  }

  /// The push that wakes the app next, and when, boot clock; nil if none does by time alone.
  func nextPush(of app: App, at now: Instant) -> (push: Push, earliest: Instant)? {
    guard !app.isShut else { return nil }
    var next: (push: Push, earliest: Instant)?
    for push in app.pushesInTurn where isMet(push.urgency) {
      let earliest = app.earliest(of: push)
      if earliest <= now { return (push, earliest) }
      if next.map({ earliest < $0.earliest }) ?? true { next = (push, earliest) }
    }
    return next
  }

  private func isMet(_ urgency: Urgency) -> Bool {
    switch urgency {
    case .veryLow: isOnMains && isUnmetered
    case .low: isOnMains || isUnmetered
    case .normal: isMet(.notLow)
    case .high: true
    }
  }

  private var isOnMains: Bool { isMet(.ac) }

  private var isUnmetered: Bool {
    var constraints = Constraints()
    constraints.network = .unmetered
    return isNetworkMet(constraints)
  }

  /// The undelivered pushes and their waits.
  func waitingPushes(of app: App, at now: Instant) -> [WaitingPush] {
    let next = nextPush(of: app, at: now)?.push.id
    return app.pushesInTurn.map { push in
      let opens = app.pushLimitFreeAt(for: push.urgency) ?? now
      let wait: WaitingPush.Wait =
        if app.isShut {
          .terminated
        } else if !isMet(push.urgency) {
          .urgency
        } else if push.earliest > now {
          .retry(until: push.earliest)
        } else if push.id != next {
          .turn
        } else if push.attempts == 0, opens > now {
          .limit(until: opens)
        } else {
          .ready
        }
      return WaitingPush(push: push, wait: wait)
    }
  }
}

extension App {
  /// The push of the running refresh, or of the lost refresh of the previous daemon.
  var deliveredPush: PushID? { state.running?.push }

  /// The undelivered pushes.
  var waitingPushes: [Push] {
    guard !pushes.isEmpty else { return [] }
    let delivered = deliveredPush
    return pushes.filter { $0.id != delivered }
  }

  /// The undelivered pushes in order of delivery: urgent ones, then the others, each in order of arrival.
  var pushesInTurn: [Push] {
    let waiting = waitingPushes
    return waiting.filter { $0.urgency == .high } + waiting.filter { $0.urgency != .high }
  }

  /// The push to drop where too many wait: the oldest, and one that is not urgent before one that is.
  var pushToDrop: Push? {
    let waiting = waitingPushes
    return waiting.dropLast().first { $0.urgency != .high } ?? waiting.first
  }

  /// Two waiting pushes, the later of which replaces the other; nil if there are none.
  var pushesToMerge: (older: Push, newer: Push)? {
    let waiting = waitingPushes
    for (index, newer) in waiting.enumerated() {
      if let older = waiting[..<index].first(where: { $0.isReplaced(by: newer) }) { return (older, newer) }
    }
    return nil
  }

  /// Whether a change of the conditions may change which push is next.
  var pushesFollowConditions: Bool { pushes.contains { $0.urgency != .high } }

  /// Whether no push may wake the app: the user has ended it, and none of its processes has attached since.
  var isShut: Bool { state.isTerminated && !isAttached }

  /// When the limit lets one more push of an urgency wake the app, boot clock; nil if it never had to wait.
  func pushLimitFreeAt(for urgency: Urgency) -> Instant? {
    guard let limit = policy?.pushLimit, state.pushedAt.count >= limit.most(for: urgency) else { return nil }
    return state.pushedAt[state.pushedAt.count - limit.most(for: urgency)] + limit.span
  }

  /// The earliest time at which a push may wake the app, boot clock.
  func earliest(of push: Push) -> Instant {
    guard push.attempts == 0, let opens = pushLimitFreeAt(for: push.urgency) else { return push.earliest }
    return max(push.earliest, opens)
  }
}
