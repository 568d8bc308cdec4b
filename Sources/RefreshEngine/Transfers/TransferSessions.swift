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
    guard let app = judge.running.app(of: refresh), let started = started(of: refresh), started.session != nil else {
      return nil
    }
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
    transfers.resetGiveUp()
    for id in transfers.ids {
      guard let state = transfers[id], state.endedAt == nil else { continue }
      transfers.considerGiveUp(at: state.policy.enqueuedAt + judge.limits.transfers.giveUp)
      if isFirst { resume(id, state, &turn) }
    }
    for session in transfers.sessions.keys.sorted() { requestWake(for: session, at: turn.now) }
    transfers.touch()
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

// When an app is woken because a session of transfers has ended, and when it counts as informed.

/// A session whose transfers have all ended, and whose end is not delivered to the app yet.
public struct DrainedSession: Hashable, Sendable {
  /// The session's name.
  public var name: String
  /// The earliest wake of the app, boot clock.
  public var earliest: Instant
}

/// How often ended sessions may wake an app: 20 times at once, and 30 times an hour in the long run.
///
/// An app that queues a transfer in each of its wakes would otherwise run without a pause.
struct WakeLimit: Hashable, Sendable {
  /// The wakes at once.
  static let burst = 20
  /// The time after which one more wake is free.
  static let spacing = Duration.minutes(2)

  /// When all wakes are free again, boot clock; nil if they are.
  private var emptyAt: Instant?

  /// When one more wake is free, boot clock; nil if it is now.
  var freeAt: Instant? { emptyAt.map { $0 - Self.spacing * (Self.burst - 1) } }

  /// Counts a wake.
  mutating func count(at now: Instant) { emptyAt = max(emptyAt ?? now, now) + Self.spacing }
}

extension App {
  /// The verdict while its next refresh is not due: the wake limit holds an ended session that would wake it now.
  func verdict(waitingFor due: Due, at now: Instant) -> Verdict {
    guard due.trigger == .transfer, let drained = mailbox.nextDrained, drained.earliest <= now else {
      return .notDue(due)
    }
    return .held([.wakeLimit(until: due.window.earliest)], due: due)
  }
}

extension Engine {
  /// Counts a wake for a drained session, which is saved before its first process.
  mutating func countWake(_ started: Started, of index: AppIndex, _ turn: inout Turn) {
    apps[index].mailbox.countWake(at: turn.now)
    addTries(1, to: started, of: apps.id(at: index), &turn)
  }

  private mutating func addTries(_ tries: Int32, to started: Started, of app: AppID, _ turn: inout Turn) {
    for id in transfers(deliveredBy: started, to: app) {
      guard var state = transfers[id] else { continue }
      state.failures = min(max(state.failures + tries, 0), Int32.max - 1)
      set(state, of: id, &turn)
    }
  }

  /// Requests a wake of the app if the session has just drained.
  mutating func noteDrained(_ session: TransferSession, _ turn: inout Turn) {
    requestWake(for: session, at: turn.now)
    if let index = apps.index(of: session.app) { turn.touch(index) }
  }

  /// Reopens a session that has a new transfer: its end is delivered after that.
  mutating func noteOpen(_ session: TransferSession, _ turn: inout Turn) {
    guard let index = apps.index(of: session.app), apps[index].mailbox.remove(sessionNamed: session.name) else {
      return
    }
    turn.touch(index)
  }

  /// Whether a session is drained and its end is not delivered.
  func needsWake(_ session: TransferSession) -> Bool {
    guard let count = transfers.sessions[session] else { return false }
    return count.open == 0 && !count.undelivered.isEmpty
  }

  mutating func requestWake(for session: TransferSession, at earliest: Instant) {
    guard needsWake(session), let index = apps.index(of: session.app),
      apps[index].refreshing?.started.session != session.name
    else { return }
    apps[index].mailbox.add(DrainedSession(name: session.name, earliest: earliest))
  }

  /// Resolves the wake for a session: the end is delivered, or the wake is requested again.
  ///
  /// A refresh that was cut short, that a person stopped, or that failed and is worth a retry has not delivered it.
  /// Neither has a refresh of which nothing could be started; that counts as no try, and is given up after a week.
  mutating func resolveWake(_ record: RefreshRecord, _ started: Started, retryAt: Instant?, _ turn: inout Turn) {
    guard let name = started.session else { return }
    let session = TransferSession(app: record.app, name: name)
    var retryAt = retryAt
    if record.hasStartedNothing {
      addTries(-1, to: started, of: record.app, &turn)
      retryAt = againAfterNoStart(of: started, record.app, at: turn.now)
      if retryAt == nil { turn.decision.wakesDropped.append(session) }
    } else if record.isStoppedByPerson {
      retryAt = turn.now
    }
    if retryAt == nil {
      for transfer in transfers(deliveredBy: started, to: record.app) {
        guard var state = transfers[transfer] else { continue }
        state.isDelivered = true
        set(state, of: transfer, &turn)
      }
    }
    requestWake(for: session, at: retryAt ?? turn.now)
  }

  /// How long a wake is tried of which nothing can be started.
  private static let longestUnstarted = Duration.hours(7 * 24)

  /// When to wake an app again for which nothing could be started, boot clock; nil to give up.
  ///
  /// The wait is as long as the session has waited already, so it doubles: from 30 s to 5 h.
  private func againAfterNoStart(of started: Started, _ app: AppID, at now: Instant) -> Instant? {
    let ended = transfers(deliveredBy: started, to: app).compactMap { transfers[$0]?.endedAt }.max() ?? now
    let waited = ended.duration(to: now)
    return waited < Self.longestUnstarted ? now + min(max(waited, .seconds(30)), .hours(5)) : nil
  }
}

extension RefreshRecord {
  /// Whether nothing of its tasks ran.
  var hasStartedNothing: Bool {
    !tasks.isEmpty
      && tasks.allSatisfy { task in
        switch task.outcome {
        case .failed(.spawn), .failed(.notRun): true
        default: false
        }
      }
  }

  /// Whether a person stopped it, directly or by the app's file.
  var isStoppedByPerson: Bool { [.user, .unconfigured, .logout].contains(stopReason) }
}
