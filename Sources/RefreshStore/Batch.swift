import RefreshEngine

/// The changes of one turn of the loop, to be saved in one transaction.
///
/// An empty batch saves the clock: worth it after a step of the wall clock, because a later boot reads the instants of
/// this one by the offset that was saved last.
public struct Batch: Hashable, Sendable {
  /// Lines of each kind of the history that wait for room at most; beyond it the oldest are given up.
  ///
  /// A full disk may stay full for days, and the states, which are bounded by the apps, matter more.
  public static let recordsKept = 1_000

  /// When the batch was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, at that moment.
  public var wallOffset: Duration
  /// The states that changed.
  public var states: [AppID: AppState]
  /// The state that all apps share, if it changed.
  public var device: DeviceState?
  /// The learners that changed; nil for those that are cleared.
  public var learned: [AppID: Learned?]
  /// When the user brought apps to the foreground and left them, boot clock, in order of time.
  public var openings: [Opening]
  /// The apps of which the openings that desktops showed are forgotten, these ones too; false for those that keep them after
  /// all.
  public var openingsForgotten: [AppID: Bool] = [:]
  /// The refreshes that ended, in the order of their ends.
  public var records: [RefreshRecord]
  /// The waits that ended, in the order of their ends.
  public var waits: [WaitRecord]
  /// The changes of transfers.
  public var transfers = TransferChanges()
  /// The validators that changed, by app and URL; nil for those that are deleted.
  public var validators: [AppID: [String: Validator?]] = [:]
  /// The changes of pushes.
  public var pushes = PushChanges()
  /// The apps of which nothing is kept.
  public var removed: Set<AppID> = []

  /// Makes a batch; nothing has changed by default.
  public init(
    now: Instant, wallOffset: Duration, states: [AppID: AppState] = [:], device: DeviceState? = nil,
    learned: [AppID: Learned?] = [:], openings: [Opening] = [], records: [RefreshRecord] = [],
    waits: [WaitRecord] = []
  ) {
    self.now = now
    self.wallOffset = wallOffset
    self.states = states
    self.device = device
    self.learned = learned
    self.openings = openings
    self.records = records
    self.waits = waits
  }

  /// The apps that must have a row.
  var apps: Set<AppID> {
    var apps = Set(learned.keys)
    apps.formUnion(openings.map(\.app))
    apps.formUnion(records.map(\.app))
    apps.formUnion(waits.map(\.app))
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
    batch.openings = (earlier.openings + openings).suffix(Self.recordsKept)
    batch.openingsForgotten.merge(earlier.openingsForgotten) { later, _ in later }
    batch.records = (earlier.records + records).suffix(Self.recordsKept)
    batch.waits = (earlier.waits + waits).suffix(Self.recordsKept)
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
    batch.openings.removeAll { apps.contains($0.app) }
    batch.records.removeAll { apps.contains($0.app) }
    batch.waits.removeAll { apps.contains($0.app) }
    batch.pushes.dropped.removeAll { apps.contains($0.app) }
    return batch
  }
}
