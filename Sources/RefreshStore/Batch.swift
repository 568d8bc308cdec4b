import RefreshEngine

/// The changes of one turn of the loop, to be saved in one transaction, with the values that changed.
///
/// An empty batch saves the clock. It is needed after a step of the wall clock, because a later boot reads this boot's
/// instants by the last saved offset.
public struct Batch: Hashable, Sendable {
  /// When the batch was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, at that moment.
  public var wallOffset: Duration
  /// The changes; the engine's values of those that it only names follow.
  public var changes = Changes()
  /// The states of the apps that changed.
  public var states: [AppID: AppState] = [:]
  /// The state that all apps share, if it changed.
  public var device: DeviceState?
  /// The learners that changed; nil for cleared learners.
  public var learned: [AppID: AppHabits?] = [:]
  /// The rows of transfers.
  public var transfers = TransferValues()
  /// The validators that changed, by app and URL; nil deletes one.
  public var validators: [AppID: [String: Validator?]] = [:]
  /// The new pushes, in order.
  ///
  /// A push that cannot be saved is refused to its sender, and is not part of the next save.
  public var arrived: [ArrivedPush] = []
  /// The messages of each app to forget, because their pushes were refused after all.
  public var unseen: [AppID: Set<String>] = [:]

  /// Makes a batch without changes.
  public init(now: Instant, wallOffset: Duration) { (self.now, self.wallOffset) = (now, wallOffset) }

  /// Makes a batch of changes with the engine's present values.
  public init(_ changes: Changes, of engine: borrowing Engine, at now: Instant) {
    self.init(now: now, wallOffset: engine.wallOffset)
    self.changes = changes
    for id in changes.apps { states[id] = engine.state(of: id) }
    if !changes.device.isEmpty { device = engine.device }
    for id in changes.learned { learned[id] = .some(engine.learned(of: id)) }
    for id in changes.transfers {
      if let state = engine.transferState(of: id) { transfers.states[id] = state } else { transfers.removed.insert(id) }
    }
  }

  /// The apps that must have a row.
  var apps: Set<AppID> {
    var apps = changes.history.apps.union(learned.keys)
    apps.formUnion(transfers.whole.values.map(\.state.policy.app))
    apps.formUnion(validators.keys)
    apps.formUnion(arrived.map(\.app))
    for case .kept(let app, _) in changes.pushes.values { apps.insert(app) }
    return apps
  }

  /// This batch with the contents of `earlier` that it does not replace.
  func following(_ earlier: Batch) -> Batch {
    let erased = changes.erased
    var batch = self
    batch.changes = earlier.changes
    batch.changes.merge(changes)
    batch.states.merge(earlier.states.filter { !erased.contains($0.key) }) { later, _ in later }
    batch.device = device ?? earlier.device
    batch.learned.merge(earlier.learned.filter { !erased.contains($0.key) }) { later, _ in later }
    batch.transfers = transfers.following(earlier.transfers)
    batch.validators.merge(earlier.validators.filter { !erased.contains($0.key) }) { later, earlier in
      later.merging(earlier) { later, _ in later }
    }
    batch.unseen.merge(earlier.unseen) { $0.union($1) }
    return batch
  }
}

/// A new push to save, unless its message was accepted before.
public struct ArrivedPush: Hashable, Sendable {
  /// Its number.
  public var id: PushID
  /// Its app.
  public var app: AppID
  /// The push that wakes the app; nil if only the message id is saved.
  public var push: Push?
  /// The id of its message at its source; nil if the source gives none.
  public var message: String?
  /// Whether the source says that the message is new; a known id is then a reused id.
  public var isNew: Bool

  /// Makes a push from its parts.
  public init(id: PushID, app: AppID, push: Push?, message: String? = nil, isNew: Bool = false) {
    self.id = id
    self.app = app
    self.push = push
    self.message = message
    self.isNew = isNew
  }
}

/// The rows of transfers for a ``Batch``: what the engine, their callers and their workers know of them.
public struct TransferValues: Hashable, Sendable {
  /// The transfers to save completely: new transfers, and transfers whose row is replaced.
  public var whole: [TransferID: StoredTransfer] = [:]
  /// The new states of other transfers.
  public var states: [TransferID: TransferState] = [:]
  /// The new progress of other transfers.
  public var progress: [TransferID: TransferProgress] = [:]
  /// The transfers to delete.
  public var removed: Set<TransferID> = []

  /// No rows.
  public init() {}

  /// These rows with the contents of `earlier` that they do not replace.
  func following(_ earlier: TransferValues) -> TransferValues {
    var values = earlier
    values.states.merge(states) { _, later in later }
    values.progress.merge(progress) { _, later in later }
    for (id, transfer) in whole {
      values.whole[id] = transfer
      // The complete transfer includes earlier values.
      (values.states[id], values.progress[id]) = (states[id], progress[id])
    }
    values.removed.formUnion(removed)
    for id in removed { (values.whole[id], values.states[id], values.progress[id]) = (nil, nil, nil) }
    return values
  }
}
