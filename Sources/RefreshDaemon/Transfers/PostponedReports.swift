import RefreshEngine

/// Workers' reports about transfers whose removal is decided and not stored yet.
///
/// A cancellation that the disk cannot store is taken back. Until then, a report that would end the transfer waits.
struct PostponedReports {
  /// The transfers whose removal is stored, so that any report may end them.
  private var removing: Set<TransferID> = []
  private var reports: [TransferID: TransferReport] = [:]

  /// Holds a report back if the transfer is in this stage, and returns whether it does; never holds back a complete file.
  mutating func hold(_ report: TransferReport, of id: TransferID, in stage: TransferState.Stage?) -> Bool {
    guard report != .done, case .stopping(let reason) = stage, reason.discards, !removing.contains(id) else {
      return false
    }
    reports[id] = report
    return true
  }

  /// Notes that the removal of a transfer is stored: its worker reports the end.
  mutating func beginRemoval(of id: TransferID) {
    removing.insert(id)
    reports[id] = nil
  }

  /// Notes the stage of a transfer; returns the report that was held back, if the transfer is not removed after all.
  mutating func release(_ id: TransferID, in stage: TransferState.Stage) -> TransferReport? {
    if case .stopping(let reason) = stage, reason.discards { return nil }
    removing.remove(id)
    return reports.removeValue(forKey: id)
  }
}
