import RefreshEngine

/// The stored data at a start of the daemon.
public struct Loaded: Sendable {
  /// The boots between the last save and now.
  public enum Previous: Hashable, Sendable {
    /// Nothing was ever saved.
    case firstStart
    /// The boot is the same; every instant stays as it was saved.
    case sameBoot
    /// The machine was rebooted; every instant was moved to this boot's clock.
    case otherBoot
  }

  /// How often the daemon has started on this store, this time included: the first part of its refresh ids.
  public internal(set) var start: UInt32 = 1
  /// The boots since the last save.
  public internal(set) var previous = Previous.firstStart
  /// The clock by which the first start of this boot restored the state, until it is set; nil in a new file.
  public internal(set) var lateClock: LateClock?
  /// The state of every app that has one, on this boot's clock.
  public internal(set) var states: [AppID: AppState] = [:]
  /// The state that all apps share, on this boot's clock.
  public internal(set) var device = DeviceState()
  /// The learners of the apps.
  public internal(set) var learned: [AppID: AppHabits] = [:]
  /// Every transfer, on this boot's clock.
  public internal(set) var transfers: [TransferID: StoredTransfer] = [:]
  /// The transfers in a form that no release writes, each with its error; they are forgotten.
  public internal(set) var unreadableTransfers: [TransferID: StoreError] = [:]
  /// The highest number of any transfer, forgotten transfers included; 0 if there was none.
  public internal(set) var lastTransfer: UInt64 = 0
  /// The validators of fetches, by app and URL.
  public internal(set) var validators: [AppID: [String: Validator]] = [:]
  /// The waiting pushes, in order of their numbers, on this boot's clock.
  public internal(set) var pushes: [AppID: [Push]] = [:]
  /// The pushes in a form that no release writes, each with its error; they are forgotten.
  public internal(set) var unreadablePushes: [PushID: StoreError] = [:]
  /// The highest number of any push, forgotten pushes included; 0 if there was none.
  public internal(set) var lastPush: UInt64 = 0
  /// The error of a damaged file, or of an unreleased build's file, which was set aside; a new file has begun.
  public internal(set) var damaged: StoreError?
  /// Why the start is not saved yet, if the disk is full: the next save that finds room saves it.
  public internal(set) var unsaved: StoreError?
  /// Whether instants were moved, after a reboot or after a late clock was set.
  public internal(set) var isMoved = false

  /// Moves every instant, as after a reboot.
  mutating func move(by shift: Duration) {
    isMoved = true
    let moved = { (instant: Instant) in instant + shift }
    states = states.mapValues {
      var state = $0.moved(moved, ahead: moved)
      // Another boot starts its units itself.
      state.keptUnit = nil
      return state
    }
    device = device.moved(moved)
    transfers = transfers.mapValues { $0.moved(moved) }
    pushes = pushes.mapValues { $0.map { $0.moved(moved) } }
  }

  /// Counts the time off of a boot whose late clock was set while no daemon ran; otherwise the engine counts it.
  mutating func countTimeOff(stepFrom saved: Duration, to offset: Duration) {
    guard previous == .sameBoot, let late = lateClock, late.isSettled(by: offset, after: saved) else { return }
    let off = late.timeOff(by: offset)
    states = states.mapValues { $0.passed(off, late) }
    transfers = transfers.mapValues { $0.moved(late.passing(off)) }
    pushes = pushes.mapValues { $0.map { $0.moved(late.passing(off)) } }
    (lateClock, isMoved) = (nil, true)
  }

  /// The changes that bring the file up to date: everything that was moved; otherwise none.
  func changes(at clock: BootClock) -> Batch {
    var batch = Batch(now: clock.now, wallOffset: clock.wallOffset)
    if isMoved {
      (batch.states, batch.device, batch.transfers.whole) = (states, device, transfers)
      for (app, pushes) in pushes { for push in pushes { batch.changes.pushes[push.id] = .kept(app, push) } }
    }
    batch.transfers.removed = Set(unreadableTransfers.keys)
    for id in unreadablePushes.keys { batch.changes.pushes[id] = .gone }
    return batch
  }
}

extension Loaded {
  /// Removes the apps that have been out of the configuration for 90 days, and are not in the new one.
  mutating func removeOutdated(configured: Set<AppID>?, at now: Instant) -> Set<AppID> {
    guard let configured else { return [] }
    let inUse = Set(transfers.values.map(\.state.policy.app)).union(configured)
    let outdated = states.filter { id, state in !inUse.contains(id) && state.isOutdated(at: now) }
    for app in outdated.keys { (states[app], pushes[app]) = (nil, nil) }
    return Set(outdated.keys)
  }
}

/// A reading of the machine's clocks: the boot, and the offset of its clock from wall time.
public struct BootClock: Hashable, Sendable {
  /// The kernel's id of the boot, the text of `/proc/sys/kernel/random/boot_id`.
  public var bootID: String
  /// When the reading was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, to the microsecond.
  public var wallOffset: Duration

  /// Makes a reading from its parts.
  public init(bootID: String, now: Instant, wallOffset: Duration) {
    self.bootID = bootID
    self.now = now
    self.wallOffset = wallOffset
  }

  /// Unix time of an instant of this boot, in microseconds.
  func wall(_ instant: Instant) -> Int64 { instant.microseconds + wallOffset.inMicroseconds }

  /// The wall clock at this reading, as if it had been set in time: a late clock goes on from the last save.
  func wall(_ late: LateClock?) -> Int64 {
    max(wall(now), late.map { $0.savedWall + $0.restoredAt.duration(to: now).inMicroseconds } ?? .min)
  }

  /// How far instants that were saved by `saved` must be moved to be right on this clock.
  ///
  /// Within a boot they stay: a step of the wall clock moves nothing. After a reboot each keeps its wall time. If the wall
  /// clock shows less than at the last save, it was set back meanwhile, and no time counts as passed. So the past stays
  /// past, the future is no further ahead, and the next refresh of an app is at most one interval away.
  func shift(since saved: BootClock, _ late: LateClock?) -> Duration {
    guard bootID != saved.bootID else { return .zero }
    let down = max(0, wall(now) - saved.wall(late))
    return .microseconds(now.microseconds - down - saved.now.microseconds)
  }

  /// The clock by which the state was restored, which may still be set; within a boot, the clock of its first start.
  func late(since saved: BootClock, _ late: LateClock?) -> LateClock? {
    guard bootID != saved.bootID else { return late }
    return LateClock(savedWall: max(saved.wall(late), wall(now)), restoredAt: now)
  }
}
