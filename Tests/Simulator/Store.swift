import RefreshEngine

/// A model of the store: it holds what survives the daemon and the boot, under RefreshStore's contract.
public struct Store: Sendable {
  /// The content of one transaction of the store.
  public struct Batch: Sendable {
    /// The apps that changed, as they are now.
    public var states: [AppID: AppState] = [:]
    /// The refreshes that ended, for the history.
    public var records: [RefreshRecord] = []
    /// The waits that ended, for the history.
    public var waits: [WaitRecord] = []
    /// The device, if it changed.
    public var device: DeviceState?
    /// The learners that changed.
    public var learned: [AppID: Learned?] = [:]
    /// The transfers that changed, as they are now; nil for those that are forgotten.
    public var transfers: [TransferID: TransferState?] = [:]
    /// The pushes that changed.
    public var pushes: [PushID: PushChange] = [:]
    /// The pushes that were dropped, for the history.
    public var dropped: [DroppedPush] = []

    var isEmpty: Bool {
      pushes.isEmpty && transfers.isEmpty && states.isEmpty && records.isEmpty && waits.isEmpty && device == nil
        && learned.isEmpty
    }
  }

  /// The apps, in instants of the boot `boot`.
  public private(set) var states: [AppID: AppState] = [:]
  /// The history, oldest first.
  public private(set) var records: [RefreshRecord] = []
  /// The state that all apps share.
  public private(set) var device = DeviceState()
  /// The learners of the apps.
  public private(set) var learned: [AppID: Learned] = [:]
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

  mutating func save(_ batch: Batch, wallOffset: Duration, at now: Instant) {
    savedAt = now
    if late?.isSettled(by: wallOffset, after: self.wallOffset) == true { late = nil }
    states.merge(batch.states) { $1 }
    for (id, learned) in batch.learned { self.learned[id] = learned }
    for (id, state) in batch.transfers { transfers[id] = state }
    for (id, change) in batch.pushes {
      if case .kept(let app, let push) = change { pushes[id] = (app, push) } else { pushes[id] = nil }
    }
    records += batch.records
    device = batch.device ?? device
    self.wallOffset = wallOffset
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
