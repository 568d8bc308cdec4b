/// The pushes and the ended transfer sessions that wait for one app.
struct Mailbox: Hashable, Sendable {
  /// How many pushes an app may have: the undelivered pushes, and the push that a running refresh delivers.
  ///
  /// That push counts, because it is undelivered again if its refresh is cut short.
  static let mostPushes = 64

  /// The pushes, in the order in which they came; with the push that a running refresh delivers.
  private(set) var pushes: [Push] = []
  /// The ended transfer sessions that are to be delivered, in the order in which they ended.
  private(set) var drained: [DrainedSession] = []
  /// How often ended sessions have been delivered.
  private var deliveryLimit = DeliveryLimit()
  /// When the last pushes woke the app, oldest first, boot clock: the instants that the push limit counts.
  private var pushedAt: [Instant] = []

  /// Makes it from the saved part.
  init(restoring state: AppState) { restore(state) }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) { pushedAt = state.pushedAt }

  /// Writes the saved part.
  func save(in state: inout AppState) { state.pushedAt = pushedAt }

  // MARK: - Pushes

  /// Restores the saved pushes, in order of id.
  mutating func restore(_ pushes: [Push]) { self.pushes = pushes }

  /// The push of an id; nil for an unknown push.
  func push(_ id: PushID?) -> Push? { pushes.first { $0.id == id } }

  /// Whether a change of the conditions may change which push is next.
  var followsConditions: Bool { pushes.contains { $0.urgency != .high } }

  /// The pushes, without the one that a refresh delivers.
  func undelivered(beside delivered: PushID?) -> [Push] {
    pushes.isEmpty ? [] : pushes.filter { $0.id != delivered }
  }

  /// The undelivered pushes in order of delivery: urgent ones, then the others, each in order of arrival.
  func inTurn(beside delivered: PushID?) -> [Push] {
    let undelivered = undelivered(beside: delivered)
    return undelivered.filter { $0.urgency == .high } + undelivered.filter { $0.urgency != .high }
  }

  /// When the limit lets one more push of an urgency wake the app, boot clock; nil if it never had to wait.
  func limitFreeAt(for urgency: Urgency, _ limit: PushLimit?) -> Instant? {
    guard let limit, pushedAt.count >= limit.most(for: urgency) else { return nil }
    return pushedAt[pushedAt.count - limit.most(for: urgency)] + limit.span
  }

  /// How many pushes have woken the app within the span of the limit.
  func used(of limit: PushLimit, at now: Instant) -> Int { pushedAt.count { $0 + limit.span > now } }

  /// Receives a push for the app of an id, and merges it into an undelivered push that it replaces; false for a known push.
  mutating func receive(_ push: Push, for id: AppID, beside delivered: PushID?, _ turn: inout Turn) -> Bool {
    guard !pushes.contains(where: { $0.id == push.id }) else { return false }
    pushes.append(push)
    turn.decision.changes.pushes[push.id] = .kept(id, push)
    tidy(of: id, beside: delivered, &turn)
    return true
  }

  /// Merges and drops undelivered pushes: after a new push, a refresh that was cut short, or a start of the daemon.
  mutating func tidy(of id: AppID, beside delivered: PushID?, _ turn: inout Turn) {
    while let (older, newer) = toMerge(beside: delivered) { merge(newer, into: older, of: id, &turn) }
    while pushes.count > Self.mostPushes, let dropped = toDrop(beside: delivered) { drop(dropped, of: id, &turn) }
  }

  /// The push to drop if there are too many: the oldest that is neither urgent nor the newest, else the oldest.
  private func toDrop(beside delivered: PushID?) -> Push? {
    let undelivered = undelivered(beside: delivered)
    return undelivered.dropLast().first { $0.urgency != .high } ?? undelivered.first
  }

  /// Two undelivered pushes, the later of which replaces the other; nil if there are none.
  private func toMerge(beside delivered: PushID?) -> (older: Push, newer: Push)? {
    let undelivered = undelivered(beside: delivered)
    for (index, newer) in undelivered.enumerated() {
      if let older = undelivered[..<index].first(where: { $0.isReplaced(by: newer) }) { return (older, newer) }
    }
    return nil
  }

  /// Merges a newer push into an older push; neither is delivered, so the limit counts the merged push.
  private mutating func merge(_ newer: Push, into older: Push, of id: AppID, _ turn: inout Turn) {
    guard let place = pushes.firstIndex(where: { $0.id == older.id }) else { return }
    var kept = older
    kept.payload = newer.payload
    kept.urgency = max(older.urgency, newer.urgency)
    (kept.arrivedAt, kept.earliest, kept.attempts) = (newer.arrivedAt, newer.earliest, newer.attempts)
    kept.merged = Int32(clamping: Int64(older.merged) + Int64(newer.merged) + 1)
    forget(newer, &turn)
    set(kept, at: place, of: id, &turn)
    turn.decision.changes.pushes[newer.id] = .merged
  }

  private mutating func drop(_ push: Push, of id: AppID, _ turn: inout Turn) {
    forget(push, &turn)
    turn.decision.changes.history.droppedPushes.append(
      DroppedPush(
        id: push.id, app: id, contentID: push.contentID, arrivedAt: push.arrivedAt, droppedAt: turn.now,
        merged: push.merged))
  }

  private mutating func set(_ push: Push, at place: Int, of id: AppID, _ turn: inout Turn) {
    pushes[place] = push
    turn.decision.changes.pushes[push.id] = .kept(id, push)
  }

  private mutating func forget(_ push: Push, _ turn: inout Turn) {
    pushes.removeAll { $0.id == push.id }
    turn.decision.changes.pushes[push.id] = .gone
  }

  /// Counts an attempt to deliver a push; only the first attempt counts for the limit.
  mutating func countAttempt(_ push: Push, of id: AppID, _ limit: PushLimit?, _ turn: inout Turn) {
    guard let limit, let place = pushes.firstIndex(where: { $0.id == push.id }) else { return }
    if push.attempts == 0 { pushedAt = (pushedAt + [turn.now]).suffix(limit.burst) }
    var delivered = push
    delivered.attempts += 1
    set(delivered, at: place, of: id, &turn)
  }

  /// Resolves the push that a refresh has delivered: forgets it, or lets it wait for another delivery.
  mutating func resolve(_ delivered: PushID?, retryAt: Instant?, of id: AppID, _ turn: inout Turn) -> DeliveredPush? {
    guard let place = pushes.firstIndex(where: { $0.id == delivered }) else { return nil }
    var push = pushes[place]
    if let retryAt {
      push.earliest = retryAt
      set(push, at: place, of: id, &turn)
    } else {
      forget(push, &turn)
    }
    return DeliveredPush(contentID: push.contentID, merged: push.merged)
  }

  /// Moves the instants of the pushes.
  mutating func move(of id: AppID, _ change: (Instant) -> Instant, _ turn: inout Turn) {
    for place in pushes.indices { set(pushes[place].moved(change), at: place, of: id, &turn) }
  }

  /// Forgets all pushes.
  mutating func forgetPushes(_ turn: inout Turn) {
    for push in pushes { turn.decision.changes.pushes[push.id] = .gone }
    pushes = []
  }

  // MARK: - Transfer sessions

  /// The next ended session to report to the app; nil without one.
  var nextDrained: DrainedSession? { drained.min { $0.earliest < $1.earliest } }

  /// When the next ended session may be delivered, boot clock; nil without one.
  var deliversSessionAt: Instant? { nextDrained.map { max($0.earliest, deliveryLimit.freeAt ?? $0.earliest) } }

  /// Adds an ended session, unless it is there already.
  mutating func add(_ session: DrainedSession) {
    if !drained.contains(where: { $0.name == session.name }) { drained.append(session) }
  }

  /// Removes the session of a name; false if there is none.
  mutating func remove(sessionNamed name: String) -> Bool {
    let before = drained.count
    drained.removeAll { $0.name == name }
    return drained.count != before
  }

  /// Counts the delivery of an ended session.
  mutating func countDelivery(at now: Instant) { deliveryLimit.count(at: now) }

  /// Forgets all ended sessions.
  mutating func forgetSessions() { drained = [] }
}

/// A session whose transfers have all ended, and whose end is not delivered to the app yet.
public struct DrainedSession: Hashable, Sendable {
  /// The session's name.
  public var name: String
  /// The earliest delivery, boot clock.
  public var earliest: Instant
}

/// How often ended sessions may be delivered to an app: 20 times at once, and 30 times an hour in the long run.
///
/// An app that requests a transfer in each such refresh would otherwise run without a pause.
struct DeliveryLimit: Hashable, Sendable {
  /// The deliveries at once.
  private static let burst = 20
  /// The time after which one more delivery is free.
  private static let spacing = Duration.minutes(2)

  /// When all deliveries are free again, boot clock; nil if they are.
  private var emptyAt: Instant?

  /// When one more delivery is free, boot clock; nil if it is now.
  var freeAt: Instant? { emptyAt.map { $0 - Self.spacing * (Self.burst - 1) } }

  /// Counts a delivery.
  mutating func count(at now: Instant) { emptyAt = max(emptyAt ?? now, now) + Self.spacing }
}

extension App {
  /// The push of the running refresh, or of the lost refresh of the previous daemon.
  var deliveredPush: PushID? { started?.push }

  /// The undelivered pushes in order of delivery: urgent ones, then the others, each in order of arrival.
  var pushesInTurn: [Push] { mailbox.inTurn(beside: deliveredPush) }

  /// Whether no push may wake the app: the user has ended it, and none of its processes has attached since.
  var isShut: Bool { visits.isTerminated && !isAttached }

  /// When the limit lets one more push of an urgency wake the app, boot clock; nil if it never had to wait.
  func pushLimitFreeAt(for urgency: Urgency) -> Instant? { mailbox.limitFreeAt(for: urgency, policy?.pushLimit) }

  /// The earliest time at which a push may wake the app, boot clock.
  func earliest(of push: Push) -> Instant {
    guard push.attempts == 0, let opens = pushLimitFreeAt(for: push.urgency) else { return push.earliest }
    return max(push.earliest, opens)
  }
}

// Which push wakes the app next, and when.

extension Judge {
  /// Whether the bridge may connect to its sources: the network meets the configuration, and the machine stays awake.
  var mayBridge: Bool {
    !life.isSuspending && isMet(limits.pushNetwork)
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

  private var isUnmetered: Bool { isMet(.unmetered) }

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
