import RefreshEngine

/// The changes of one turn of the loop, to be saved in one transaction.
///
/// An empty batch saves the clock: worth it after a step of the wall clock, because a later boot reads the instants of
/// this one by the offset that was saved last.
public struct Batch: Hashable, Sendable {
  /// When the batch was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, at that moment.
  public var wallOffset: Duration
  /// The states that changed.
  public var states: [AppID: AppState] = [:]
  /// The state that all apps share, if it changed.
  public var device: DeviceState?
  /// The learners that changed; nil for those that are cleared.
  public var learned: [AppID: Learned?] = [:]
  /// The lines that the history gets.
  public var history = HistoryAdditions()
  /// The apps of which the openings that desktops showed are forgotten, these ones too; false for those that keep them after
  /// all.
  public var openingsForgotten: [AppID: Bool] = [:]
  /// The changes of transfers.
  public var transfers = TransferChanges()
  /// The validators that changed, by app and URL; nil for those that are deleted.
  public var validators: [AppID: [String: Validator?]] = [:]
  /// The changes of pushes.
  public var pushes = PushChanges()
  /// The apps of which nothing is kept.
  public var removed: Set<AppID> = []

  /// Makes a batch in which nothing has changed.
  public init(now: Instant, wallOffset: Duration) { (self.now, self.wallOffset) = (now, wallOffset) }

  /// The apps that must have a row.
  var apps: Set<AppID> {
    var apps = history.apps.union(learned.keys)
    apps.formUnion(transfers.whole.values.map(\.state.policy.app))
    apps.formUnion(validators.keys)
    apps.formUnion(pushes.apps)
    return apps
  }

  /// This batch with what `earlier` holds and this one does not replace.
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

  /// This batch without what it holds of some apps, of which nothing is to be kept.
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
