import RefreshEngine

/// The changes of transfers for a ``Batch``.
public struct TransferChanges: Hashable, Sendable {
  /// The transfers to save completely: new transfers, and transfers whose row is replaced.
  public var whole: [TransferID: StoredTransfer] = [:]
  /// The new states of other transfers.
  public var states: [TransferID: TransferState] = [:]
  /// The new progress of other transfers.
  public var progress: [TransferID: TransferProgress] = [:]
  /// The transfers to delete.
  public var removed: Set<TransferID> = []

  /// Makes no changes.
  public init() {}

  /// These changes with the contents of `earlier` that they do not replace.
  func following(_ earlier: TransferChanges) -> TransferChanges {
    var changes = earlier
    changes.states.merge(states) { _, later in later }
    changes.progress.merge(progress) { _, later in later }
    for (id, transfer) in whole {
      changes.whole[id] = transfer
      // The complete transfer includes earlier changes.
      (changes.states[id], changes.progress[id]) = (states[id], progress[id])
    }
    changes.removed.formUnion(removed)
    for id in removed { (changes.whole[id], changes.states[id], changes.progress[id]) = (nil, nil, nil) }
    return changes
  }
}
