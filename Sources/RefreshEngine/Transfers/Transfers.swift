// Transfers: their changes, and the choice of running transfers.

extension Engine {
  /// Adds transfers to the queue; known transfers stay as they are.
  mutating func enqueue(_ enqueued: [Enqueued], _ turn: inout Turn) {
    for transfer in enqueued where transfers[transfer.id] == nil {
      set(TransferState(policy: transfer.policy), of: transfer.id, &turn)
      transfers.noteGiveUp(at: transfer.policy.enqueuedAt + limits.transfers.giveUp)
      noteOpen(transfer.policy.session, &turn)
    }
  }

  /// Pauses a transfer, or resumes it.
  mutating func pause(_ id: TransferID, _ isPaused: Bool, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    switch (state.stage, isPaused) {
    case (.waiting, true), (.noSpace, true): state.stage = .paused
    case (.transferring, true): return stopTransfer(id, .paused, &turn)
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
    guard let state = transfers[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    stopTransfer(id, .cancelled, &turn)
  }

  mutating func prioritize(_ id: TransferID, _ priority: Int32, _ turn: inout Turn) {
    guard var state = transfers[id], state.policy.priority != priority else { return }
    state.policy.priority = priority
    set(state, of: id, &turn)
  }

  /// Retries a transfer when space is found: first at once, later after a doubling wait.
  mutating func findRoom(_ id: TransferID, _ turn: inout Turn) {
    guard var state = transfers[id], case .noSpace = state.stage else { return }
    state.stage = .waiting(from: turn.now + wait(of: id, state.policy.app, after: state.failures - 1))
    set(state, of: id, &turn)
  }

  /// Applies the report of a worker about a transfer.
  mutating func report(_ id: TransferID, _ report: TransferReport, _ turn: inout Turn) {
    guard var state = transfers[id], state.isGiven else { return }
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
      retry(&state, id, after: after, hasProgressed: hasProgressed, at: turn.now)
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
    case (.lost(let hasProgressed), _): retry(&state, id, after: nil, hasProgressed: hasProgressed, at: turn.now)
    }
    if transfers.yielding.contains(id), case .waiting(let from) = state.stage {
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
    _ state: inout TransferState, _ id: TransferID, after: Duration?, hasProgressed: Bool, at now: Instant
  ) {
    state.failures = hasProgressed ? 0 : BackOff.transfers.counting(state.failures)
    let wait = wait(of: id, state.policy.app, after: state.failures)
    state.stage = .waiting(from: now + max(wait, min(after ?? .zero, Self.longestWait)))
  }

  /// How long a transfer waits after some failures in a row.
  private func wait(of id: TransferID, _ app: AppID, after failures: Int32) -> Duration {
    guard failures > 0 else { return .zero }
    return BackOff.transfers.wait(after: failures) { spread.offset(of: app, within: $0 / 5, turn: id.number) }
  }

  /// Ends a transfer and keeps nothing of it: at once if nothing of it can exist, else after a worker has removed it.
  private mutating func discard(_ id: TransferID, _ reason: TransferStop, _ turn: inout Turn) {
    guard let state = transfers[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    let mayBeThere = state.hasBegun && policy(of: state.policy.app) != nil
    if state.isGiven || mayBeThere { stopTransfer(id, reason, &turn) } else { end(id, reason.result, &turn) }
  }

  mutating func stopTransfer(_ id: TransferID, _ reason: TransferStop, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    state.stage = .stopping(reason)
    if reason.discards { state.failures = 0 }
    set(state, of: id, &turn)
    turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
  }

  mutating func end(_ id: TransferID, _ result: TransferResult, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    state.stage = .ended(result, at: turn.now)
    // From now on `failures` counts wakes.
    state.failures = 0
    set(state, of: id, &turn)
    noteDrained(state.policy.session, &turn)
  }

  /// Sets a transfer's state, and has it saved.
  mutating func set(_ state: TransferState, of id: TransferID, _ turn: inout Turn) {
    transfers[id] = state
    turn.decision.changes.transfers.insert(id)
  }

  /// Gives up transfers whose time is up; a transfer that the user paused waits for the user.
  mutating func giveUpTransfers(_ turn: inout Turn) {
    guard let at = transfers.giveUpAt, at <= turn.now else { return }
    transfers.giveUpAt = nil
    for id in transfers.ids {
      guard let state = transfers[id], state.endedAt == nil, state.stage != .paused else { continue }
      let end = state.policy.enqueuedAt + limits.transfers.giveUp
      if end <= turn.now { discard(id, .expired, &turn) } else { transfers.noteGiveUp(at: end) }
    }
  }

  /// Stops transfers that may no longer run, starts transfers while there are slots, and computes the next wake.
  mutating func runTransfers(_ turn: inout Turn) {
    // Before the first configuration no app is known.
    guard isConfigured, transfers.isTouched || transferWake.map({ $0 <= turn.now }) == true else { return }
    giveUpTransfers(&turn)
    for id in transfers.given {
      guard let state = transfers[id], state.stage == .transferring else { continue }
      if let reason = reasonToStop(state) { stopTransfer(id, reason, &turn) }
    }
    transfers.ripen(at: turn.now)
    startTransfers(at: turn.now, &turn)
    giveWay(&turn)
    forgetOldTransfers(&turn)
    var wakes = [transfers.giveUpAt, transfers.nextTry, transfers.yieldAt, nextForgetting(after: turn.now)]
    if transfers.hasWaiting {
      wakes.append(settlingUntil.flatMap { $0 > turn.now ? $0 : nil })
      if case .until(let end) = device.pause { wakes.append(end) }
    }
    transfers.wakeAt = wakes.compactMap(\.self).min()
    transfers.isTouched = false
  }

  private func nextTransfers(at now: Instant) -> [TransferID] {
    var line = TransferPicker(transfers, limits: limits.transfers, owner: owner) { key in
      lastingHolds(on: key.app, network: key.network, at: now).isEmpty
    }
    var next: [TransferID] = []
    while let id = line.next() { next.append(id) }
    return next
  }

  /// Gives transfers that may run to workers until no slot is free.
  private mutating func startTransfers(at now: Instant, _ turn: inout Turn) {
    for id in nextTransfers(at: now) {
      guard var state = transfers[id] else { continue }
      state.stage = .transferring
      state.hasBegun = true
      set(state, of: id, &turn)
      transfers.notePace(of: id, at: turn.now)
      turn.decision.effects.append(.transfer(id, state.policy.app))
    }
  }
}
