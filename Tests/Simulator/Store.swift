import RefreshEngine

/// A model of the store: it holds what survives the daemon and the boot, under RefreshStore's contract.
public struct Store: Sendable {
  /// The apps, in instants of the boot `boot`.
  public private(set) var states: [AppID: AppState] = [:]
  /// The history, oldest first.
  public private(set) var records: [RefreshRecord] = []
  /// The state that all apps share.
  public private(set) var device = DeviceState()
  /// The learners of the apps.
  public private(set) var learned: [AppID: AppHabits] = [:]
  /// The transfers, in instants of the boot `boot`.
  public private(set) var transfers: [TransferID: TransferState] = [:]
  /// The pushes, in instants of the boot `boot`.
  public internal(set) var pushes: [PushID: (app: AppID, push: Push)] = [:]
  /// Wall time minus boot time, as it was last saved.
  public private(set) var wallOffset = Duration.zero
  /// How often a daemon has started.
  public private(set) var starts: UInt32 = 0
  private(set) var boot = 0
  /// When the last save was, in instants of the boot `boot`.
  private var savedAt = Instant(microseconds: 0)
  /// The clock by which another boot's state was restored, until it is set.
  private var late: LateClock?

  /// Saves changes with the engine's present values, in one transaction.
  mutating func save(_ changes: Changes, of engine: borrowing Engine, at now: Instant) {
    savedAt = now
    if late?.isSettled(by: engine.wallOffset, after: wallOffset) == true { late = nil }
    for id in changes.apps { states[id] = engine.state(of: id) }
    for id in changes.learned { learned[id] = engine.learned(of: id) }
    for id in changes.transfers { transfers[id] = engine.transferState(of: id) }
    for (id, change) in changes.pushes {
      if case .kept(let app, let push) = change { pushes[id] = (app, push) } else { pushes[id] = nil }
    }
    records += changes.history.refreshes
    if !changes.device.isEmpty { device = engine.device }
    wallOffset = engine.wallOffset
  }

  /// Loads the state for a starting daemon.
  ///
  /// In another boot, each instant is converted through wall time; if the wall clock is behind the last save, no time has
  /// passed. Returns the shift, nil within a boot, and a late clock that may still be set or was set while no daemon ran.
  mutating func load(boot: Int, now: Instant, wallOffset: Duration) -> (shift: Duration?, clock: LateClock?) {
    starts += 1
    guard boot != self.boot else {
      let earlier = late.map { LateClock(savedWall: $0.savedWall, restoredAt: $0.restoredAt, isEarlier: true) }
      countTimeOff(stepTo: wallOffset)
      return (nil, earlier)
    }
    let wall = (now + wallOffset).microseconds
    // A clock that was not set in time continues from the save before its boot.
    let lateWall = late.map { $0.savedWall + $0.restoredAt.duration(to: savedAt).inMicroseconds }
    let savedWall = max((savedAt + self.wallOffset).microseconds, lateWall ?? .min)
    let shift = Duration.microseconds(now.microseconds - max(0, wall - savedWall) - savedAt.microseconds)
    let change = { (instant: Instant) in instant + shift }
    savedAt = now
    states = states.mapValues { $0.moved(change) { $0 + shift } }
    transfers = transfers.mapValues { $0.moved(change) }
    pushes = pushes.mapValues { ($0.app, $0.push.moved(change)) }
    device = device.moved { $0 + shift }
    self.boot = boot
    self.wallOffset = wallOffset
    late = starts == 1 ? nil : LateClock(savedWall: max(wall, savedWall), restoredAt: now)
    return (shift, late)
  }

  /// Counts the time off of a boot whose late clock was set while no daemon ran.
  private mutating func countTimeOff(stepTo offset: Duration) {
    defer { wallOffset = offset }
    guard let late, late.isSettled(by: offset, after: wallOffset) else { return }
    let off = late.timeOff(by: offset)
    states = states.mapValues { $0.passed(off, late) }
    transfers = transfers.mapValues { $0.moved(late.passing(off)) }
    pushes = pushes.mapValues { ($0.app, $0.push.moved(late.passing(off))) }
    self.late = nil
  }
}

extension Store {
  /// Saves an arrived push before the engine gets it.
  mutating func take(_ push: Push, for app: AppID) { pushes[push.id] = (app, push) }

  /// The pushes of each app, in the form that a starting engine loads.
  var pushesOfApps: [AppID: [Push]] {
    Dictionary(grouping: pushes.values) { $0.app }.mapValues { $0.map(\.push).sorted { $0.id < $1.id } }
  }
}
