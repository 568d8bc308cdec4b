import RefreshEngine

/// The changes of one turn of the loop, to be saved in one transaction.
///
/// An empty batch saves the clock. It is needed after a step of the wall clock, because a later boot reads this boot's
/// instants by the last saved offset.
public struct Batch: Hashable, Sendable {
  /// When the batch was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, at that moment.
  public var wallOffset: Duration
  /// The states that changed.
  public var states: [AppID: AppState] = [:]
  /// The state that all apps share, if it changed.
  public var device: DeviceState?
  /// The learners that changed; nil for cleared learners.
  public var learned: [AppID: Learned?] = [:]
  /// The new lines of the history.
  public var history = HistoryAdditions()
  /// The apps whose desktop openings are cleared, including the openings in this batch; true clears them, false restores
  /// them.
  public var openingsForgotten: [AppID: Bool] = [:]
  /// The changes of transfers.
  public var transfers = TransferChanges()
  /// The validators that changed, by app and URL; nil deletes one.
  public var validators: [AppID: [String: Validator?]] = [:]
  /// The changes of pushes.
  public var pushes = PushChanges()
  /// The apps to erase.
  public var removed: Set<AppID> = []

  /// Makes a batch without changes.
  public init(now: Instant, wallOffset: Duration) { (self.now, self.wallOffset) = (now, wallOffset) }

  /// The apps that must have a row.
  var apps: Set<AppID> {
    var apps = history.apps.union(learned.keys)
    apps.formUnion(transfers.whole.values.map(\.state.policy.app))
    apps.formUnion(validators.keys)
    apps.formUnion(pushes.apps)
    return apps
  }

  /// This batch with the contents of `earlier` that it does not replace.
  func following(_ earlier: Batch) -> Batch {
    let earlier = earlier.without(removed)
    var batch = self
    batch.states.merge(earlier.states) { later, _ in later }
    batch.device = device ?? earlier.device
    batch.learned.merge(earlier.learned) { later, _ in later }
    batch.history = earlier.history
    batch.history.append(history)
    batch.openingsForgotten.merge(earlier.openingsForgotten) { later, _ in later }
    batch.transfers = transfers.following(earlier.transfers)
    batch.removed.formUnion(earlier.removed.subtracting(states.keys))
    batch.pushes = pushes.following(earlier.pushes)
    batch.validators.merge(earlier.validators) { later, earlier in later.merging(earlier) { later, _ in later } }
    return batch
  }

  /// This batch without the apps that are erased.
  private func without(_ apps: Set<AppID>) -> Batch {
    guard !apps.isEmpty else { return self }
    var batch = self
    for app in apps {
      batch.states.removeValue(forKey: app)
      batch.learned.removeValue(forKey: app)
      batch.validators.removeValue(forKey: app)
    }
    batch.history.remove(apps)
    return batch
  }
}
