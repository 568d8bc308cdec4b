import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

// Pushes on their way from who sends them over the store to the engine, and from the engine to the app.

extension Daemon {
  /// Takes pushes, and answers when they are on disk: what has become of each, or that none of them was taken.
  ///
  /// They are saved first and handed to the engine after that: what cannot be stored never was, and may be sent again.
  /// A message whose id was taken before is left out by the store, in the same transaction (DESIGN section 7). What the
  /// engine made of them is saved as well before the answer, so that a crash right after it changes nothing of that.
  func take(_ orders: [PushOrder], then answer: @escaping (Result<[TakenPush], NotTaken>) -> Void) {
    let now = readClocks()
    usePushes()
    let arrived = orders.map { $0.arrived(as: pushes.makeID(), at: now) }
    let isToBeSaved = arrived.contains { $0.push != nil || $0.message != nil }
    let conclude = { (known: Set<PushID>) in
      zip(orders, arrived).map { order, push in
        known.contains(push.id) ? self.passOver(order) : self.take(order, push.push)
      }
    }
    guard isToBeSaved else { return answer(.success(conclude([]))) }
    let bytes = arrived.reduce(0) { $0 + ($1.push?.payload.utf8.count ?? 0) }
    guard pushes.reserve(bytes) else { return answer(.failure(.full)) }
    pending.arrivals.append(
      Pending.Arrival(pushes: arrived) { problem, known in
        self.pushes.leave(bytes)
        if let problem { return answer(.failure(NotTaken(problem))) }
        let taken = conclude(known)
        self.pending.answers.append { answer(.success(taken)) }
        self.commitSoon()
      })
    commitSoon()
  }

  /// Takes note of a push that was taken before.
  private func passOver(_ order: PushOrder) -> TakenPush {
    tally.note(Tally.PushFate.known)
    return TakenPush(fate: .known, waiting: waitingPushes(of: order.app))
  }

  /// Hands a push that is saved to the engine, or tells who is attached of one that wakes nobody.
  private func take(_ order: PushOrder, _ push: Push?) -> TakenPush {
    guard configuration[order.app] != nil else {
      if let message = order.message { pending.messagesUnseen[order.app, default: []].insert(message) }
      if let push { pending.pushes[push.id] = .gone }
      return TakenPush()
    }
    guard let push else {
      tellAttached(of: order.payload, to: order.app)
      tellWatchers(ofPush: order.payload.contentID, to: order.app, .told)
      return note(TakenPush(fate: .told, waiting: waitingPushes(of: order.app)), of: order)
    }
    handle(.pushed(order.app, push))
    let isKept = engine.pushes(of: order.app).contains { $0.id == push.id }
    // What took the place of another is that one now, and needs no row of its own.
    if !isKept { pending.pushes[push.id] = .gone }
    let told = engine.state(of: order.app)?.running?.push
    var taken = TakenPush(fate: isKept ? .queued : .merged, waiting: waitingPushes(of: order.app))
    if told == push.id {
      taken.waiting += 1
    } else if let opens = engine.pushOpens(for: order.app), opens > Moment.now().instant {
      taken.earliest = opens
    }
    return note(taken, of: order)
  }

  private func note(_ taken: TakenPush, of order: PushOrder) -> TakenPush {
    guard let fate = taken.fate else { return taken }
    tally.note(Tally.PushFate(fate))
    journal.took(order.payload.contentID, of: order.app, fate, waiting: taken.waiting)
    return taken
  }

  /// How many pushes of an app wait, without the one that a running refresh tells.
  private func waitingPushes(of app: AppID) -> Int {
    let told = engine.state(of: app)?.running?.push
    return engine.pushes(of: app).count { $0.id != told }
  }

  /// Has watched from now on what urgencies ask for.
  func usePushes() {
    guard !pushes.isInUse else { return }
    pushes.isInUse = true
    watch()
  }

  /// Takes note of what a decision changed of pushes.
  func notePushes(_ decision: Decision) {
    guard !decision.pushes.isEmpty else { return }
    pending.pushes.merge(decision.pushes) { _, later in later }
    pending.pushesDropped += decision.pushesDropped
    let untold = decision.pushesMerged.union(decision.pushesDropped.map(\.id))
    for (id, change) in decision.pushes {
      let before = pushes.note(change, of: id)
      guard change == .gone, before?.isTold == true, !untold.contains(id) else { continue }
      // The app was told, and would be told again.
      pending.mustLast = true
      tally.note(Tally.PushFate.delivered)
    }
    for push in decision.pushesDropped {
      tally.note(Tally.PushFate.dropped)
      journal.dropped(push)
      tellAttached(of: push)
    }
  }

  /// What the next commit saves of pushes.
  func pushChanges(of turn: Pending) -> PushChanges {
    var changes = PushChanges()
    changes.arrived = turn.arrivals.flatMap(\.pushes)
    changes.changed = turn.pushes
    changes.unseen = turn.messagesUnseen
    changes.dropped = turn.pushesDropped
    guard turn.savesAll else { return changes }
    // Also of those whose file is gone for now.
    for app in pushes.apps {
      for push in engine.pushes(of: app) { changes.changed[push.id] = .kept(app, push) }
    }
    return changes
  }

  // MARK: - What the app is told

  /// Tells the processes of an app that are attached to it of a push that wakes nobody.
  private func tellAttached(of payload: PushPayload, to app: AppID) {
    let event = Wire.AttachEvent(kind: "push", payload: payload.text, contentID: payload.contentID)
    for attachment in attached(to: app) { attachment.tell(event) }
  }

  private func tellAttached(of dropped: DroppedPush) {
    let event = Wire.AttachEvent(
      kind: "push_dropped", message: "more than \(Engine.mostPushes) pushes waited, and it was the oldest",
      contentID: dropped.contentID)
    for attachment in attached(to: dropped.app) { attachment.tell(event) }
  }
}

extension Urgency {
  init(_ urgency: Wire.Urgency) {
    self =
      switch urgency {
      case .veryLow: .veryLow
      case .low: .low
      case .normal: .normal
      case .high: .high
      }
  }
}
