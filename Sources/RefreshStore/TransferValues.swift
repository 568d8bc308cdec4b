import RefreshEngine

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
