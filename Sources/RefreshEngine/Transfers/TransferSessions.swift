// Sessions of transfers: what is open, what has ended, and how long ended transfers are kept.

extension Engine {
  /// The known transfers, in order of id.
  public var transferIDs: [TransferID] { transfers.ids }

  /// The state of a transfer, for the store; nil for an unknown transfer.
  public func transferState(of id: TransferID) -> TransferState? { transfers[id] }

  /// Whether all transfers of a session have ended; true for a session without transfers.
  public func isDrained(_ session: TransferSession) -> Bool { transfers.sessions[session]?.open ?? 0 == 0 }

  /// How many transfers run, and how many wait or are paused.
  public var transferCounts: (running: Int, waiting: Int) {
    let running = transfers.given.count
    return (running, transfers.openCount - running)
  }

  /// When time requires the next look at the transfers, boot clock; nil for never.
  public var transferWake: Instant? { transfers.wakeAt }

  /// The start of a running refresh; nil for an unknown refresh.
  public func started(of refresh: RefreshID) -> Started? {
    refreshing(refresh)?.started
  }

  /// The transfers that a refresh reports to the app, in order of id: transfers of its session that ended before its start,
  /// and were not reported before.
  public func transfers(deliveredBy started: Started, to app: AppID) -> [TransferID] {
    guard let name = started.session else { return [] }
    let undelivered = transfers.sessions[TransferSession(app: app, name: name)]?.undelivered ?? []
    return undelivered.filter { id in (transfers[id]?.endedAt).map { $0 <= started.at } ?? false }.sorted()
  }

  /// How often the app was woken for the session that a refresh reports, including this wake; nil for another refresh.
  ///
  /// It is more than 1 if an earlier wake was cut short, had to be repeated, or may have been lost with the daemon.
  public func tries(deliveredBy refresh: RefreshID) -> Int? {
    guard let app = running[refresh], let started = started(of: refresh), started.session != nil else { return nil }
    return max(
      1, transfers(deliveredBy: started, to: app).compactMap { transfers[$0]?.failures }.max().map(Int.init) ?? 1)
  }

  /// How long an ended transfer stays listed.
  private static let remembered = Duration.hours(24)
  /// How long an ended transfer is kept for an app that left the configuration.
  private static let keptForMissingApp = Duration.hours(30 * 24)

  /// Deletes transfers that ended long ago, once their end is delivered or their app is gone.
  mutating func forgetOldTransfers(_ turn: inout Turn) {
    for id in transfers.ended(before: turn.now - Self.remembered) {
      guard let state = transfers[id], let end = state.endedAt else { continue }
      let isGone = policy(of: state.policy.app) == nil && end + Self.keptForMissingApp <= turn.now
      guard state.isDelivered || isGone else { continue }
      transfers[id] = nil
      turn.decision.changes.transfers.insert(id)
    }
  }

  /// When the next ended transfer is old enough to be forgotten, boot clock.
  func nextForgetting(after now: Instant) -> Instant? {
    // A microsecond more, because transfers are forgotten that ended before an instant, not at it.
    transfers.firstEnd(from: now - Self.remembered).map { $0 + Self.remembered + .microseconds(1) }
  }

  /// Resumes the transfers of the previous daemon once a configuration is in force, and requests the pending wakes.
  ///
  /// At the first configuration (`isFirst`), no worker has a transfer, and pending discards begin.
  mutating func resumeTransfers(isFirst: Bool, _ turn: inout Turn) {
    transfers.giveUpAt = nil
    for id in transfers.ids {
      guard let state = transfers[id], state.endedAt == nil else { continue }
      transfers.noteGiveUp(at: state.policy.enqueuedAt + limits.transfers.giveUp)
      if isFirst { resume(id, state, &turn) }
    }
    for session in transfers.sessions.keys.sorted() { requestWake(for: session, at: turn.now) }
    transfers.isTouched = true
  }

  private mutating func resume(_ id: TransferID, _ state: TransferState, _ turn: inout Turn) {
    var state = state
    switch state.stage {
    case .waiting, .paused, .noSpace, .ended: return
    case .stopping(let reason) where reason.discards:
      guard policy(of: state.policy.app) != nil else { return end(id, reason.result, &turn) }
      turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
      return
    case .stopping(.paused): state.stage = .paused
    case .transferring, .stopping: state.stage = .waiting(from: turn.now)
    }
    set(state, of: id, &turn)
  }
}
