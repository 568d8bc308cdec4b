import RefreshEngine

/// The changes of transfers, to be saved with a ``Batch``.
public struct TransferChanges: Hashable, Sendable {
  /// The transfers to save whole: new ones, and ones whose row is to be replaced.
  public var whole: [TransferID: StoredTransfer] = [:]
  /// The states of other transfers.
  public var states: [TransferID: TransferState] = [:]
  /// How far others have come.
  public var progress: [TransferID: TransferProgress] = [:]
  /// The transfers to delete.
  public var removed: Set<TransferID> = []

  /// No changes.
  public init() {}

  /// These changes with what `earlier` holds and these do not replace.
  func following(_ earlier: TransferChanges) -> TransferChanges {
    var changes = earlier
    changes.states.merge(states) { _, later in later }
    changes.progress.merge(progress) { _, later in later }
    for (id, transfer) in whole {
      changes.whole[id] = transfer
      // An earlier change is part of the whole transfer.
      (changes.states[id], changes.progress[id]) = (states[id], progress[id])
    }
    changes.removed.formUnion(removed)
    for id in removed { (changes.whole[id], changes.states[id], changes.progress[id]) = (nil, nil, nil) }
    return changes
  }
}
