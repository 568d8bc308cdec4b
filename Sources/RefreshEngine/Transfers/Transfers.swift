/// The transfers of all apps: what workers have, what waits, and what has ended.
struct Transfers: Sendable {
  /// The transfers, with counts and lists.
  private(set) var queue = TransferQueue()
  /// The first instant at which to give up a transfer; too early if that transfer has ended since.
  private var giveUpAt: Instant?
  /// When a running transfer may have to give way, boot clock.
  private var yieldAt: Instant?
  /// When the transfers must be judged again, boot clock.
  private(set) var wakeAt: Instant?

  /// The state of a transfer; nil for an unknown transfer.
  subscript(id: TransferID) -> TransferState? { queue[id] }

  /// Has the transfers judged before the event is done.
  mutating func touch() { queue.touch() }

  /// Frees the slot of a transfer whose bytes have all arrived.
  mutating func markFetched(_ id: TransferID) { queue.markFetched(id) }

  /// Updates how many bytes of a transfer are moved.
  mutating func count(_ bytes: Int64, movedOf id: TransferID, at now: Instant) {
    queue.count(bytes, movedOf: id, at: now)
  }

  /// Looks for transfers to give up at an instant of the boot clock, if not earlier.
  private mutating func considerGiveUp(at instant: Instant) { giveUpAt = min(giveUpAt ?? instant, instant) }

  // MARK: - Events

  /// Adds transfers to the queue; known transfers stay as they are.
  mutating func enqueue(_ enqueued: [Enqueued], _ limits: TransferLimits, _ turn: inout Turn) {
    for transfer in enqueued where queue[transfer.id] == nil {
      set(TransferState(policy: transfer.policy), of: transfer.id, &turn)
      considerGiveUp(at: transfer.policy.enqueuedAt + limits.giveUp)
      turn.sessions.append(.reopened(transfer.policy.session))
    }
  }

  /// Pauses a transfer, or resumes it.
  mutating func pause(_ id: TransferID, _ isPaused: Bool, _ turn: inout Turn) {
    guard var state = queue[id] else { return }
    switch (state.stage, isPaused) {
    case (.waiting, true), (.noSpace, true): state.stage = .paused
    case (.transferring, true): return stop(id, .paused, &turn)
    // A transfer that is being discarded goes on to be discarded.
    case (.stopping(let reason), true) where !reason.discards: state.stage = .stopping(.paused)
    case (.stopping(.paused), false): state.stage = .stopping(.user)
    case (.paused, false):
      state.stage = .waiting(from: turn.now)
      state.failures = 0
    // A user who resumes a transfer does not want to wait for the next try.
    case (.waiting(let from), false) where from > turn.now: state.stage = .waiting(from: turn.now)
    default: return
    }
    set(state, of: id, &turn)
  }

  /// Cancels a transfer: nothing of it is kept.
  ///
  /// It ends after the driver has stopped it, even if nothing of it exists: until the cancellation is stored, it can be
  /// taken back.
  mutating func cancel(_ id: TransferID, _ turn: inout Turn) {
    guard let state = queue[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    stop(id, .cancelled, &turn)
  }

  mutating func prioritize(_ id: TransferID, _ priority: Int32, _ turn: inout Turn) {
    guard var state = queue[id], state.policy.priority != priority else { return }
    state.policy.priority = priority
    set(state, of: id, &turn)
  }

  /// Retries a transfer when space is found: first at once, later after a doubling wait.
  mutating func findRoom(_ id: TransferID, _ spread: Spread, _ turn: inout Turn) {
    guard var state = queue[id], case .noSpace = state.stage else { return }
    state.stage = .waiting(from: turn.now + wait(of: id, state.policy.app, after: state.failures - 1, spread))
    set(state, of: id, &turn)
  }

  /// Applies the report of a worker about a transfer.
  mutating func apply(_ report: TransferReport, of id: TransferID, _ spread: Spread, _ turn: inout Turn) {
    guard var state = queue[id], state.isGiven else { return }
    switch (report, state.stage) {
    case (.done, _): return end(id, .done, &turn)
    case (.failed, .stopping(let reason)) where reason.discards: return end(id, reason.result, &turn)
    case (.failed, _): return end(id, .failed, &turn)
    case (.lost, .stopping(let reason)) where reason.discards && state.failures < Self.mostDiscards:
      // A part of it may remain.
      state.failures += 1
      turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
    case (_, .stopping(let reason)) where reason.discards: return end(id, reason.result, &turn)
    case (.retry(let after, let hasProgressed), let stage):
      retry(&state, id, after: after, hasProgressed: hasProgressed, spread, at: turn.now)
      if stage == .stopping(.paused) { state.stage = .paused }
    case (.wrong, let stage):
      state.wrongs += 1
      guard state.wrongs < Self.mostWrongs else { return end(id, .failed, &turn) }
      state.failures = BackOff.transfers.counting(state.failures)
      state.stage =
        stage == .stopping(.paused)
        ? .paused : .waiting(from: turn.now + BackOff.wrongContent.wait(after: state.wrongs))
    case (_, .stopping(.paused)): state.stage = .paused
    case (_, .stopping), (.stopped, _): state.stage = .waiting(from: turn.now)
    case (.noSpace(let needed), _):
      state.failures = BackOff.transfers.counting(state.failures)
      state.stage = .noSpace(needed: needed)
    case (.lost(let hasProgressed), _):
      retry(&state, id, after: nil, hasProgressed: hasProgressed, spread, at: turn.now)
    }
    if queue.yielding.contains(id), case .waiting(let from) = state.stage {
      state.stage = .waiting(from: max(from, turn.now + TransferPace.rest))
    }
    set(state, of: id, &turn)
  }

  /// How often the content of a transfer may be wrong; the last try is half an hour after the first.
  private static let mostWrongs: Int32 = 6
  /// The longest wait that a server may ask for.
  private static let longestWait = Duration.hours(24)
  /// How often workers may fail to remove the partial file of a transfer.
  private static let mostDiscards: Int32 = 3

  /// Schedules the next attempt: at once after progress, else after the back-off.
  private func retry(
    _ state: inout TransferState, _ id: TransferID, after: Duration?, hasProgressed: Bool, _ spread: Spread,
    at now: Instant
  ) {
    state.failures = hasProgressed ? 0 : BackOff.transfers.counting(state.failures)
    let wait = wait(of: id, state.policy.app, after: state.failures, spread)
    state.stage = .waiting(from: now + max(wait, min(after ?? .zero, Self.longestWait)))
  }

  /// How long a transfer waits after some failures in a row.
  private func wait(of id: TransferID, _ app: AppID, after failures: Int32, _ spread: Spread) -> Duration {
    guard failures > 0 else { return .zero }
    return BackOff.transfers.wait(after: failures) { spread.offset(of: app, within: $0 / 5, turn: id.number) }
  }

  /// Ends a transfer and keeps nothing of it: at once if nothing of it can exist, else after a worker has removed it.
  private mutating func discard(_ id: TransferID, _ reason: TransferStop, _ apps: AppTable, _ turn: inout Turn) {
    guard let state = queue[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    let mayBeThere = state.hasBegun && apps.policy(of: state.policy.app) != nil
    if state.isGiven || mayBeThere { stop(id, reason, &turn) } else { end(id, reason.result, &turn) }
  }

  /// Stops a transfer; a worker that has it reports when it has stopped.
  private mutating func stop(_ id: TransferID, _ reason: TransferStop, _ turn: inout Turn) {
    guard var state = queue[id] else { return }
    state.stage = .stopping(reason)
    if reason.discards { state.failures = 0 }
    set(state, of: id, &turn)
    turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
  }

  private mutating func end(_ id: TransferID, _ result: TransferResult, _ turn: inout Turn) {
    guard var state = queue[id] else { return }
    state.stage = .ended(result, at: turn.now)
    // From now on `failures` counts deliveries.
    state.failures = 0
    set(state, of: id, &turn)
    turn.sessions.append(.ended(state.policy.session, isDrained: needsDelivery(state.policy.session)))
  }

  /// Sets a transfer's state, and has it saved.
  private mutating func set(_ state: TransferState, of id: TransferID, _ turn: inout Turn) {
    queue[id] = state
    turn.decision.changes.transfers.insert(id)
  }

  /// Gives up transfers whose time is up; a transfer that the user paused waits for the user.
  private mutating func giveUp(_ judge: Judge, _ apps: AppTable, _ turn: inout Turn) {
    guard let at = giveUpAt, at <= turn.now else { return }
    giveUpAt = nil
    for id in queue.ids {
      guard let state = queue[id], state.endedAt == nil, state.stage != .paused else { continue }
      let end = state.policy.enqueuedAt + judge.limits.transfers.giveUp
      if end <= turn.now { discard(id, .expired, apps, &turn) } else { considerGiveUp(at: end) }
    }
  }

  /// Stops transfers that may no longer run, starts transfers while there are slots, and computes the next wake.
  mutating func run(_ judge: Judge, _ apps: AppTable, _ turn: inout Turn) {
    // Before the first configuration no app is known.
    guard judge.life.isConfigured, queue.isTouched || wakeAt.map({ $0 <= turn.now }) == true else { return }
    giveUp(judge, apps, &turn)
    for id in queue.given {
      guard let state = queue[id], state.stage == .transferring else { continue }
      let app = apps.index(of: state.policy.app).map { apps[$0] }
      if let reason = judge.reasonToStop(state, of: app) { stop(id, reason, &turn) }
    }
    queue.ripen(at: turn.now)
    start(judge, apps, &turn)
    giveWay(judge, apps, &turn)
    forgetOld(apps, &turn)
    var wakes = [giveUpAt, queue.nextTry, yieldAt, nextForgetting(after: turn.now)]
    if queue.hasWaiting {
      wakes.append(judge.settlingUntil.flatMap { $0 > turn.now ? $0 : nil })
      if case .until(let end) = judge.pause { wakes.append(end) }
    }
    wakeAt = wakes.compactMap(\.self).min()
    queue.endLook()
  }

  /// The transfers that get the free slots, in this order.
  private func next(_ judge: Judge, _ apps: AppTable, at now: Instant) -> [TransferID] {
    var line = TransferPicker(queue, limits: judge.limits.transfers, owner: apps.owner) { key in
      judge.holds(onTransfersOf: key.app, among: apps, network: key.network, at: now).isEmpty
    }
    var next: [TransferID] = []
    while let id = line.next() { next.append(id) }
    return next
  }

  /// Gives transfers that may run to workers until no slot is free.
  private mutating func start(_ judge: Judge, _ apps: AppTable, _ turn: inout Turn) {
    for id in next(judge, apps, at: turn.now) {
      guard var state = queue[id] else { continue }
      state.stage = .transferring
      state.hasBegun = true
      set(state, of: id, &turn)
      queue.beginPace(of: id, at: turn.now)
      turn.decision.effects.append(.transfer(id, state.policy.app))
    }
  }

  /// Stops one transfer that keeps others from a slot for too long: a slow transfer, or a transfer of a user with more
  /// slots.
  ///
  /// It stops the next only when that slot is free. It sets when to look again.
  private mutating func giveWay(_ judge: Judge, _ apps: AppTable, _ turn: inout Turn) {
    yieldAt = nil
    guard queue.hasRipe, queue.yielding.isEmpty, !queue.paces.isEmpty else { return }
    let given = queue.givenOfUser { apps.owner(of: $0) }
    var due: [(at: Instant, id: TransferID)] = []
    for (id, pace) in queue.paces {
      guard let state = queue[id], state.stage == .transferring, !queue.fetched.contains(id),
        let fewest = fewestOfWaiting(for: state.policy.server, given, judge, apps, at: turn.now)
      else { continue }
      var at = pace.gotOnAt + TransferPace.patience
      if given[apps.owner(of: state.policy.app)] ?? 0 >= fewest + 2 {
        at = min(at, pace.began + (fewest == 0 ? TransferPace.turnBesideNone : TransferPace.turn))
      }
      due.append((at, id))
    }
    // The newest of the due transfers, so that older transfers finish.
    let ripe = due.filter { $0.at <= turn.now }.map(\.id).max()
    guard let id = ripe else { return yieldAt = due.map(\.at).min() }
    queue.markYielding(id)
    stop(id, .user, &turn)
  }

  /// The fewest slots of a user who waits for the slot of a transfer with this server; nil if nobody waits.
  private func fewestOfWaiting(
    for server: String, _ given: [UInt32: Int], _ judge: Judge, _ apps: AppTable, at now: Instant
  ) -> Int? {
    var slots = TransferSlots(given: queue, limits: judge.limits.transfers)
    slots.release(with: server)
    return queue.lanes.compactMap { key, servers in
      let mine = given[apps.owner(of: key.app)] ?? 0
      let waits =
        servers.keys.contains { slots.has($0, isFirst: mine == 0) }
        && judge.holds(onTransfersOf: key.app, among: apps, network: key.network, at: now).isEmpty
      return waits ? mine : nil
    }.min()
  }

  /// How long an ended transfer stays listed.
  private static let remembered = Duration.hours(24)
  /// How long an ended transfer is kept for an app that left the configuration.
  private static let keptForMissingApp = Duration.hours(30 * 24)

  /// Deletes transfers that ended long ago, once their end is delivered or their app is gone.
  private mutating func forgetOld(_ apps: AppTable, _ turn: inout Turn) {
    for id in queue.ended(before: turn.now - Self.remembered) {
      guard let state = queue[id], let end = state.endedAt else { continue }
      let isGone = apps.policy(of: state.policy.app) == nil && end + Self.keptForMissingApp <= turn.now
      guard state.isDelivered || isGone else { continue }
      queue[id] = nil
      turn.decision.changes.transfers.insert(id)
    }
  }

  /// When the next ended transfer is old enough to be forgotten, boot clock.
  private func nextForgetting(after now: Instant) -> Instant? {
    // A microsecond more, because transfers are forgotten that ended before an instant, not at it.
    queue.firstEnd(from: now - Self.remembered).map { $0 + Self.remembered + .microseconds(1) }
  }

  /// Resumes the transfers of the previous daemon once a configuration is in force.
  ///
  /// At the first configuration (`isFirst`), no worker has a transfer, and pending discards begin.
  mutating func resume(isFirst: Bool, _ judge: Judge, _ apps: AppTable, _ turn: inout Turn) {
    giveUpAt = nil
    for id in queue.ids {
      guard let state = queue[id], state.endedAt == nil else { continue }
      considerGiveUp(at: state.policy.enqueuedAt + judge.limits.transfers.giveUp)
      if isFirst { resume(id, state, apps, &turn) }
    }
    queue.touch()
  }

  private mutating func resume(_ id: TransferID, _ state: TransferState, _ apps: AppTable, _ turn: inout Turn) {
    var state = state
    switch state.stage {
    case .waiting, .paused, .noSpace, .ended: return
    case .stopping(let reason) where reason.discards:
      guard apps.policy(of: state.policy.app) != nil else { return end(id, reason.result, &turn) }
      turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
      return
    case .stopping(.paused): state.stage = .paused
    case .transferring, .stopping: state.stage = .waiting(from: turn.now)
    }
    set(state, of: id, &turn)
  }

  // MARK: - Taking back, and the clock

  /// Restores the saved transfers.
  mutating func restore(_ states: [TransferID: TransferState]) {
    for (id, state) in states { queue[id] = state }
  }

  /// Forgets the ended transfers of an app.
  mutating func forgetEnded(of app: AppID, _ turn: inout Turn) {
    for id in queue.ids where queue[id]?.policy.app == app && queue[id]?.endedAt != nil {
      queue[id] = nil
      turn.decision.changes.transfers.insert(id)
    }
  }

  /// Counts time off: for the next tries, the ends and the removal of transfers.
  mutating func pass(_ off: Duration, _ late: LateClock, _ limits: TransferLimits, _ turn: inout Turn) {
    for id in queue.ids {
      guard let state = queue[id] else { continue }
      set(state.moved(late.passing(off, restored: late.ahead.transfers[id].map { [$0] })), of: id, &turn)
      guard let moved = queue[id], moved.endedAt == nil else { continue }
      considerGiveUp(at: moved.policy.enqueuedAt + limits.giveUp)
    }
  }

  /// Restores a transfer before a change; a transfer that a worker has goes on, because its stop order is void.
  mutating func takeBack(to before: TransferState, of id: TransferID, _ turn: inout Turn) {
    guard var state = queue[id], state.endedAt == nil else { return }
    state.policy.priority = before.policy.priority
    switch (before.isGiven, state.isGiven) {
    case (true, true):
      // Stops by the engine itself stay in force.
      switch state.stage {
      case .stopping(.paused), .stopping(.cancelled): state.stage = before.stage
      case .stopping(.user) where before.stage == .stopping(.paused): state.stage = before.stage
      case .transferring where before.stage == .stopping(.paused):
        set(state, of: id, &turn)
        return pause(id, true, &turn)
      default: break
      }
    case (false, false): (state.stage, state.failures) = (before.stage, before.failures)
    case (true, false):
      if before.stage == .stopping(.paused) {
        state.stage = .paused
      } else if state.stage == .paused {
        state.stage = .waiting(from: turn.now)
      }
    case (false, true):
      if case .stopping(.cancelled) = state.stage {
        (state.stage, state.failures) = (before.stage, before.failures)
      } else if before.stage == .paused {
        set(state, of: id, &turn)
        return pause(id, true, &turn)
      }
    }
    set(state, of: id, &turn)
  }

  // MARK: - Sessions

  /// The transfers that a refresh reports to the app, in order of id: transfers of its session that ended before its start,
  /// and were not reported before.
  func delivered(by started: Started, to app: AppID) -> [TransferID] {
    guard let name = started.session else { return [] }
    let undelivered = queue.sessions[TransferSession(app: app, name: name)]?.undelivered ?? []
    return undelivered.filter { id in (queue[id]?.endedAt).map { $0 <= started.at } ?? false }.sorted()
  }

  /// Whether a session is drained and its end is not delivered.
  func needsDelivery(_ session: TransferSession) -> Bool {
    guard let count = queue.sessions[session] else { return false }
    return count.open == 0 && !count.undelivered.isEmpty
  }

  /// Counts tries to deliver the transfers that a refresh reports; negative takes tries back.
  mutating func addTries(_ tries: Int32, to started: Started, of app: AppID, _ turn: inout Turn) {
    for id in delivered(by: started, to: app) {
      guard var state = queue[id] else { continue }
      state.failures = min(max(state.failures + tries, 0), Int32.max - 1)
      set(state, of: id, &turn)
    }
  }

  /// Marks the transfers that a refresh has reported.
  mutating func markDelivered(by started: Started, to app: AppID, _ turn: inout Turn) {
    for id in delivered(by: started, to: app) {
      guard var state = queue[id] else { continue }
      state.isDelivered = true
      set(state, of: id, &turn)
    }
  }
}
