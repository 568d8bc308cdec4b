import RefreshEngine

/// What changed of transfers, to be saved with a ``Batch``.
public struct TransferChanges: Hashable, Sendable {
  /// Those of which nothing is saved yet, or whatever may be saved is to be replaced.
  public var whole: [TransferID: StoredTransfer] = [:]
  /// What the engine decided of others.
  public var states: [TransferID: TransferState] = [:]
  /// How far others have come.
  public var progress: [TransferID: TransferProgress] = [:]
  /// Those that are forgotten.
  public var removed: Set<TransferID> = []

  /// No changes.
  public init() {}

  /// Whether there are none.
  public var isEmpty: Bool { whole.isEmpty && states.isEmpty && progress.isEmpty && removed.isEmpty }

  /// These changes with what `earlier` holds and these do not replace.
  func following(_ earlier: TransferChanges) -> TransferChanges {
    var changes = earlier
    changes.states.merge(states) { _, later in later }
    changes.progress.merge(progress) { _, later in later }
    for (id, transfer) in whole {
      changes.whole[id] = transfer
      // What was changed before it was saved whole is in it.
      (changes.states[id], changes.progress[id]) = (states[id], progress[id])
    }
    changes.removed.formUnion(removed)
    for id in removed { (changes.whole[id], changes.states[id], changes.progress[id]) = (nil, nil, nil) }
    return changes
  }
}
