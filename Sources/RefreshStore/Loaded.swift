import RefreshEngine

/// The data that a starting daemon finds.
public struct Loaded: Sendable {
  /// The life of the machine between the last save and now.
  public enum Previous: Hashable, Sendable {
    /// Nothing was ever saved.
    case firstStart
    /// The machine has run on; every instant is as it was saved.
    case sameBoot
    /// The machine was restarted; every instant was moved to this boot's clock.
    case otherBoot
  }

  /// How often the daemon has started on this store, this time included: the first part of its refresh ids.
  public internal(set) var start: UInt32 = 1
  /// The boots since the last save.
  public internal(set) var previous = Previous.firstStart
  /// The clock that the state was restored by at the first start of this boot, until it is set; nil in a new file.
  public internal(set) var lateClock: LateClock?
  /// The state of every app that ever had one, on this boot's clock.
  public internal(set) var states: [AppID: AppState] = [:]
  /// The state that all apps share, on this boot's clock.
  public internal(set) var device = DeviceState()
  /// The learners of the apps.
  public internal(set) var learned: [AppID: Learned] = [:]
  /// Every transfer, on this boot's clock.
  public internal(set) var transfers: [TransferID: StoredTransfer] = [:]
  /// The transfers that no release can have written so, with what is wrong with each: they are forgotten.
  public internal(set) var unreadableTransfers: [TransferID: StoreError] = [:]
  /// The greatest number that a transfer ever had, also one that is forgotten; 0 before the first.
  public internal(set) var lastTransfer: UInt64 = 0
  /// The validators of fetches, by app and URL.
  public internal(set) var validators: [AppID: [String: Validator]] = [:]
  /// The pushes that wait for delivery, in order of their numbers, on this boot's clock.
  public internal(set) var pushes: [AppID: [Push]] = [:]
  /// The pushes that no release can have written so, with what is wrong with each: they are forgotten.
  public internal(set) var unreadablePushes: [PushID: StoreError] = [:]
  /// The greatest number that a push ever had, also one that is forgotten; 0 before the first.
  public internal(set) var lastPush: UInt64 = 0
  /// Why there is no more, if the file was damaged: it was set aside and a new one begun.
  public internal(set) var damaged: StoreError?
  /// Why the start is not on the disk yet, if the disk is full: it is written with the next save that finds room.
  public internal(set) var unsaved: StoreError?
  /// Whether instants were moved: in another boot, and once a late clock was set.
  public internal(set) var isMoved = false

  /// Moves every instant, as a reboot does.
  mutating func move(by shift: Duration) {
    isMoved = true
    let moved = { (instant: Instant) in instant + shift }
    states = states.mapValues {
      var state = $0.moved(moved, ahead: moved)
      // Another boot starts the units that it is to run.
      state.keptUnit = nil
      return state
    }
    device = device.moved(moved)
    transfers = transfers.mapValues { $0.moved(moved) }
    pushes = pushes.mapValues { $0.map { $0.moved(moved) } }
  }

  /// Counts the time off of a boot whose late clock was set while no daemon ran, as the engine does otherwise.
  mutating func countTimeOff(stepFrom saved: Duration, to offset: Duration) {
    guard previous == .sameBoot, let late = lateClock, late.isSettled(by: offset, after: saved) else { return }
    let off = late.timeOff(by: offset)
    states = states.mapValues { $0.passed(off, late) }
    transfers = transfers.mapValues { $0.moved(late.passing(off)) }
    pushes = pushes.mapValues { $0.map { $0.moved(late.passing(off)) } }
    (lateClock, isMoved) = (nil, true)
  }

  /// The changes that make the file hold this: all that was moved; otherwise the rows are right as they are.
  func changes(at clock: BootClock) -> Batch {
    var batch = Batch(now: clock.now, wallOffset: clock.wallOffset)
    if isMoved {
      (batch.states, batch.device, batch.transfers.whole) = (states, device, transfers)
      for (app, pushes) in pushes { for push in pushes { batch.pushes.changed[push.id] = .kept(app, push) } }
    }
    batch.transfers.removed = Set(unreadableTransfers.keys)
    for id in unreadablePushes.keys { batch.pushes.changed[id] = .gone }
    return batch
  }
}
