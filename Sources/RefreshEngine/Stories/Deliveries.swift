// Deliveries: refreshes that hand a push, or the end of a transfer session, to their app.

extension Engine {
  /// Receives a push, and merges it into an undelivered push that it replaces.
  mutating func receive(_ push: Push, for id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    let delivered = apps[index].deliveredPush
    if apps[index].mailbox.receive(push, for: id, beside: delivered, &turn) { turn.touch(index) }
  }

  /// Merges and drops the pushes of all apps, even of apps that are not configured.
  mutating func tidyPushes(_ turn: inout Turn) {
    for index in apps.indexes where !apps[index].mailbox.pushes.isEmpty {
      let delivered = apps[index].deliveredPush
      apps[index].mailbox.tidy(of: apps.id(at: index), beside: delivered, &turn)
    }
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
    let attempts = apps[index].mailbox.push(started.push)?.attempts ?? 1
    return now + Self.retryWait(after: attempts, of: apps.id(at: index), judge.spread)
  }

  /// Resolves the push of a refresh: it is delivered, or waits for another delivery.
  mutating func resolvePush(
    _ index: AppIndex, _ started: Started, retryAt: Instant?, _ turn: inout Turn
  ) -> DeliveredPush? {
    let id = apps.id(at: index)
    let resolved = apps[index].mailbox.resolve(started.push, retryAt: retryAt, of: id, &turn)
    let delivered = apps[index].deliveredPush
    if resolved != nil, retryAt != nil { apps[index].mailbox.tidy(of: id, beside: delivered, &turn) }
    return resolved
  }

  /// When to deliver again the push that the previous daemon was delivering at its end.
  ///
  /// The first retry is due at once. Later retries wait for the back-off, because the push may have crashed the daemon.
  func retryOfLostPush(_ index: AppIndex, _ started: Started, at now: Instant) -> Instant {
    let attempts = apps[index].mailbox.push(started.push)?.attempts ?? 0
    return attempts < 2 ? now : now + Self.retryWait(after: attempts, of: apps.id(at: index), judge.spread)
  }
}

// Sessions of transfers.

/// A change of a session of transfers that concerns its app.
enum SessionChange {
  /// One of its transfers has ended; after the last one, the end is delivered to the app.
  case ended(TransferSession, isDrained: Bool)
  /// It has a new transfer, and its end waits for that one.
  case reopened(TransferSession)
}

extension Engine {
  /// Follows the changed transfer sessions: the end of a drained session is delivered, that of a reopened one is not.
  mutating func followSessions(_ turn: inout Turn) {
    let changes = turn.sessions
    turn.sessions = []
    for change in changes {
      switch change {
      case .ended(let session, let isDrained):
        if isDrained { addSession(session, at: turn.now) }
        if let index = apps.index(of: session.app) { turn.touch(index) }
      case .reopened(let session):
        guard let index = apps.index(of: session.app), apps[index].mailbox.remove(sessionNamed: session.name) else {
          continue
        }
        turn.touch(index)
      }
    }
  }

  /// Requests the delivery of the drained sessions that the previous daemon left.
  mutating func requestDeliveries(at now: Instant) {
    for session in transfers.queue.sessions.keys.sorted() { requestDelivery(for: session, at: now) }
  }

  private mutating func requestDelivery(for session: TransferSession, at earliest: Instant) {
    if transfers.needsDelivery(session) { addSession(session, at: earliest) }
  }

  private mutating func addSession(_ session: TransferSession, at earliest: Instant) {
    guard let index = apps.index(of: session.app), apps[index].refreshing?.started.session != session.name else {
      return
    }
    apps[index].mailbox.add(DrainedSession(name: session.name, earliest: earliest))
  }

  /// Counts a delivery of a drained session; the count is saved before the first process starts.
  mutating func countDelivery(_ started: Started, of index: AppIndex, _ turn: inout Turn) {
    apps[index].mailbox.countDelivery(at: turn.now)
    transfers.addTries(1, to: started, of: apps.id(at: index), &turn)
  }

  /// Resolves the delivery of a session: it is done, or it is requested again.
  ///
  /// A refresh that was cut short, that a person stopped, or that failed and is retried has not delivered the session.
  /// Neither has a refresh that could not start: it does not count as a try, and the engine gives up after a week.
  mutating func resolveSession(_ record: RefreshRecord, _ started: Started, retryAt: Instant?, _ turn: inout Turn) {
    guard let name = started.session else { return }
    let session = TransferSession(app: record.app, name: name)
    var retryAt = retryAt
    if record.hasStartedNothing {
      transfers.addTries(-1, to: started, of: record.app, &turn)
      retryAt = againAfterNoStart(of: started, record.app, at: turn.now)
      if retryAt == nil { turn.decision.sessionsDropped.append(session) }
    } else if record.isStoppedByPerson {
      retryAt = turn.now
    }
    if retryAt == nil { transfers.markDelivered(by: started, to: record.app, &turn) }
    requestDelivery(for: session, at: retryAt ?? turn.now)
  }

  /// How long a refresh that cannot start is tried again for a session.
  private static let longestUnstarted = Duration.hours(7 * 24)

  /// When to repeat a delivery whose refresh could not start, boot clock; nil to give up.
  ///
  /// The wait is as long as the session has waited already, so it doubles: from 30 s to 5 h.
  private func againAfterNoStart(of started: Started, _ app: AppID, at now: Instant) -> Instant? {
    let ended = transfers.delivered(by: started, to: app).compactMap { transfers[$0]?.endedAt }.max() ?? now
    let waited = ended.duration(to: now)
    return waited < Self.longestUnstarted ? now + min(max(waited, .seconds(30)), .hours(5)) : nil
  }
}
