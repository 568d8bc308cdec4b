/// A boot whose wall clock may be set late, as on a machine without a real-time clock.
///
/// Nobody knows then how long the machine was off. The state is restored by the clock as it is, and the first large step
/// forward tells the rest of the time off: what was restored moves as if the clock had been right from the start. A time
/// that was set since the start keeps its distance.
public struct LateClock: Hashable, Sendable {
  /// The wall clock that the state was restored by, in microseconds of Unix time: the last save, or later.
  public var savedWall: Int64
  /// When it was restored, boot clock.
  public var restoredAt: Instant
  /// Whether an earlier daemon of this boot has restored it: nobody knows then which times ahead were set since.
  let isEarlier: Bool
  /// The restored instants that were still ahead then.
  var ahead = Ahead()

  /// A smaller step is the work of a clock that runs a little fast or slow.
  static let largeStep = Duration.minutes(1)

  /// Makes it of its parts.
  public init(savedWall: Int64, restoredAt: Instant, isEarlier: Bool = false) {
    (self.savedWall, self.restoredAt, self.isEarlier) = (savedWall, restoredAt, isEarlier)
  }

  /// Whether a step of the wall clock is the large one past the last save, which tells the time off.
  public func isSettled(by offset: Duration, after before: Duration) -> Bool {
    guard restoredAt.microseconds + offset.inMicroseconds >= savedWall else { return false }
    return (offset - before).inMicroseconds.magnitude >= Self.largeStep.inMicroseconds.magnitude
  }

  /// Restored instants that lay ahead: the end of a pause, and times of apps and transfers.
  ///
  /// A time that is not among them was set since, and is right.
  struct Ahead: Hashable, Sendable {
    var pause: Instant?
    var apps: [AppID: Set<Instant>] = [:]
    var transfers: [TransferID: Instant] = [:]
  }

  /// Takes note of what was restored and is still ahead.
  mutating func note(_ states: [AppID: AppState], _ pushes: [AppID: [Push]], _ pause: Pause?) {
    guard !isEarlier else { return }
    if case .until(let end)? = pause { ahead.pause = end }
    for (id, state) in states {
      let instants = state.instantsAhead + (pushes[id] ?? []).map(\.earliest)
      let later = instants.filter { $0 > restoredAt }
      if !later.isEmpty { ahead.apps[id] = Set(later) }
    }
  }

  /// Takes note of the transfers that were restored and wait for their time.
  mutating func note(_ transfers: [TransferID: TransferState]) {
    guard !isEarlier else { return }
    for (id, state) in transfers {
      if case .waiting(let from) = state.stage, from > restoredAt { ahead.transfers[id] = from }
    }
  }

  /// The time that the machine was off beyond what was counted, by a wall clock that is right; not negative.
  public func timeOff(by wallOffset: Duration) -> Duration {
    max(.zero, .microseconds(restoredAt.microseconds + wallOffset.inMicroseconds - savedWall))
  }

  /// The change of instants by which the time off passes: those before the start, and those that were restored ahead.
  public func passing(_ off: Duration, restored: Set<Instant>? = nil) -> (Instant) -> Instant {
    let ahead = restored ?? []
    return { [restoredAt] in $0 <= restoredAt || ahead.contains($0) ? $0 - off : $0 }
  }
}

extension AppState {
  /// The state after the time off; a plan is still the restored one if nothing has run since.
  ///
  /// A refresh that has started at a restored instant, or in the moment of the restoration, has started in this boot.
  public func passed(_ off: Duration, _ late: LateClock, restored: Set<Instant>? = nil) -> AppState {
    var state = moved(late.passing(off), ahead: late.passing(off, restored: restored))
    var hasRun = lastStart.map { $0 > late.restoredAt } ?? false
    if let running, running.at >= late.restoredAt {
      (state.running, state.lastStart, hasRun) = (running, lastStart, true)
    }
    state.planned = hasRun ? planned : planned.map { $0 - off }
    return state
  }
}

extension Engine {
  /// Counts the rest of the time that the machine was off as passed, at the first large step past the last save.
  mutating func countTimeOff(stepFrom before: Duration, _ turn: inout Turn) {
    guard let late = lateClock, late.isSettled(by: wallOffset, after: before) else { return }
    lateClock = nil
    let off = late.timeOff(by: wallOffset)
    guard off > .zero else { return }
    for id in apps.ids {
      guard let app = apps[id] else { continue }
      let restored = late.ahead.apps[id]
      let change = late.passing(off, restored: restored)
      apps[id]?.state = app.state.passed(off, late, restored: restored)
      for push in app.pushes { turn.decision.pushes[push.id] = .kept(id, push.moved(change)) }
      apps[id]?.pushes = app.pushes.map { $0.moved(change) }
      turn.decision.changed.insert(id)
    }
    turn.touched.insert(apps.indexes)
    passForTransfers(off, late, &turn)
    if case .until(let end)? = device.pause, end == late.ahead.pause {
      setPause(.until(end - off), &turn)
      endPause(&turn)
    }
    catchUp(&turn, byStaleness: true)
  }

  /// The same for transfers: when they are tried again, given up, and forgotten.
  private mutating func passForTransfers(_ off: Duration, _ late: LateClock, _ turn: inout Turn) {
    for id in transfers.ids {
      guard let state = transfers[id] else { continue }
      set(state.moved(late.passing(off, restored: late.ahead.transfers[id].map { [$0] })), of: id, &turn)
      guard let moved = transfers[id], moved.endedAt == nil else { continue }
      transfers.noteGiveUp(at: moved.policy.enqueuedAt + limits.transfers.giveUp)
    }
  }
}
