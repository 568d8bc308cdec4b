import RefreshEngine

/// Reports of workers about transfers whose removal is decided and not stored yet.
///
/// A cancellation that the disk does not take is taken back. Until then, a report that would end the transfer waits.
struct PostponedReports {
  /// The transfers whose removal is stored, so that any report may end them.
  private var removing: Set<TransferID> = []
  private var reports: [TransferID: TransferReport] = [:]

  /// Holds a report back if the transfer is in this stage, and gives whether it does; a complete file is complete.
  mutating func hold(_ report: TransferReport, of id: TransferID, in stage: TransferState.Stage?) -> Bool {
    guard report != .done, case .stopping(let reason) = stage, reason.discards, !removing.contains(id) else {
      return false
    }
    reports[id] = report
    return true
  }

  /// Notes that the removal of a transfer is stored: the worker that performs it has the last word.
  mutating func beginRemoval(of id: TransferID) {
    removing.insert(id)
    reports[id] = nil
  }

  /// Notes the stage of a transfer, and gives the report that was held back if the transfer is not to be removed any more.
  mutating func release(_ id: TransferID, in stage: TransferState.Stage) -> TransferReport? {
    if case .stopping(let reason) = stage, reason.discards { return nil }
    removing.remove(id)
    return reports.removeValue(forKey: id)
  }
}
