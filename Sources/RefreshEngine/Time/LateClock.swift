/// A boot whose wall clock may be set late, as on a machine without a real-time clock.
///
/// Then nobody knows how long the machine was off. The state is restored by the present clock, and the first large step
/// forward tells the rest of the time off: restored instants move as if the clock had been right from the start. Times that
/// were set since the start keep their distance.
public struct LateClock: Hashable, Sendable {
  /// The wall clock by which the state was restored, in microseconds of Unix time: the last save, or later.
  public var savedWall: Int64
  /// When the state was restored, boot clock.
  public var restoredAt: Instant
  /// Whether an earlier daemon of this boot restored it, so that nobody knows which times ahead were set since.
  let isEarlier: Bool
  /// The restored instants that were still ahead at the start.
  var ahead = Ahead()

  /// The least step that counts; a smaller step corrects a clock that runs fast or slow.
  static let largeStep = Duration.minutes(1)

  /// Makes a late clock from its parts.
  public init(savedWall: Int64, restoredAt: Instant, isEarlier: Bool = false) {
    (self.savedWall, self.restoredAt, self.isEarlier) = (savedWall, restoredAt, isEarlier)
  }

  /// Whether a step of the wall clock is the large step past the last save, which tells the time off.
  public func isSettled(by offset: Duration, after before: Duration) -> Bool {
    guard restoredAt.microseconds + offset.inMicroseconds >= savedWall else { return false }
    return (offset - before).inMicroseconds.magnitude >= Self.largeStep.inMicroseconds.magnitude
  }

  /// The restored instants that lay ahead: the end of a pause, and times of apps and transfers.
  ///
  /// Any other time was set since the start, and is right.
  struct Ahead: Hashable, Sendable {
    var pause: Instant?
    var apps: [AppID: Set<Instant>] = [:]
    var transfers: [TransferID: Instant] = [:]
  }

  /// Notes the restored instants of apps, pushes and the pause that are still ahead.
  mutating func note(_ states: [AppID: AppState], _ pushes: [AppID: [Push]], _ pause: Pause?) {
    guard !isEarlier else { return }
    if case .until(let end)? = pause { ahead.pause = end }
    for (id, state) in states {
      let instants = state.instantsAhead + (pushes[id] ?? []).map(\.earliest)
      let later = instants.filter { $0 > restoredAt }
      if !later.isEmpty { ahead.apps[id] = Set(later) }
    }
  }

  /// Notes the restored transfers that wait for their time.
  mutating func note(_ transfers: [TransferID: TransferState]) {
    guard !isEarlier else { return }
    for (id, state) in transfers {
      if case .waiting(let from) = state.stage, from > restoredAt { ahead.transfers[id] = from }
    }
  }

  /// How long the machine was off beyond what was counted, by a correct wall clock; not negative.
  public func timeOff(by wallOffset: Duration) -> Duration {
    max(.zero, .microseconds(restoredAt.microseconds + wallOffset.inMicroseconds - savedWall))
  }

  /// Moves instants back by the time off: instants before the start, and restored instants ahead.
  public func passing(_ off: Duration, restored: Set<Instant>? = nil) -> (Instant) -> Instant {
    let ahead = restored ?? []
    return { [restoredAt] in $0 <= restoredAt || ahead.contains($0) ? $0 - off : $0 }
  }
}

extension AppState {
  /// The state after the time off; the plan moves too, unless a refresh has run since.
  ///
  /// A refresh that started at a restored instant, or at the moment of the restoration, started in this boot.
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
  /// Counts the rest of the machine's time off as passed, at the first large step past the last save.
  mutating func countTimeOff(stepFrom before: Duration, _ turn: inout Turn) {
    guard let late = lateClock, late.isSettled(by: wallOffset, after: before) else { return }
    lateClock = nil
    let off = late.timeOff(by: wallOffset)
    guard off > .zero else { return }
    for index in apps.indexes {
      let id = apps.id(at: index)
      let restored = late.ahead.apps[id]
      let change = late.passing(off, restored: restored)
      apps[index].state = apps[index].state.passed(off, late, restored: restored)
      for push in apps[index].pushes { turn.decision.changes.pushes[push.id] = .kept(id, push.moved(change)) }
      apps[index].pushes = apps[index].pushes.map { $0.moved(change) }
      turn.decision.changes.apps.insert(id)
    }
    turn.touched.insert(apps.indexes)
    passForTransfers(off, late, &turn)
    if case .until(let end)? = device.pause, end == late.ahead.pause {
      setPause(.until(end - off), &turn)
      endPause(&turn)
    }
    catchUp(&turn, byStaleness: true)
  }

  /// Counts the time off for transfers: their next tries, their ends and their removal.
  private mutating func passForTransfers(_ off: Duration, _ late: LateClock, _ turn: inout Turn) {
    for id in transfers.ids {
      guard let state = transfers[id] else { continue }
      set(state.moved(late.passing(off, restored: late.ahead.transfers[id].map { [$0] })), of: id, &turn)
      guard let moved = transfers[id], moved.endedAt == nil else { continue }
      transfers.noteGiveUp(at: moved.policy.enqueuedAt + limits.transfers.giveUp)
    }
  }
}
