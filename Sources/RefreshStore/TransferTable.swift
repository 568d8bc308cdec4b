import RefreshEngine

/// The rows of `transfer`: one `StoredTransfer` each.
struct TransferTable {
  private let saved: AppRows<SavedTransfer>
  private let writeState: Statement
  private let writeProgress: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    func update(_ record: some ColumnRecord) throws(StoreError) -> Statement {
      let names = try Columns.names(of: record)
      return try Statement("UPDATE transfer SET \(names.assigned) WHERE id = ?", on: database, to: .save)
    }
    saved = try AppRows(of: "transfer", SavedTransfer(), order: "id", on: database)
    writeState = try update(DecidedTransfer())
    writeProgress = try update(TransferProgress())
    remove = try Statement("DELETE FROM transfer WHERE id = ?", on: database, to: .save)
  }

  /// All transfers, and the rows that no release writes, each with its error.
  ///
  /// Such a row does not make the file a damaged file, because its content came from a server.
  func load() throws(StoreError) -> (read: [TransferID: StoredTransfer], unreadable: [TransferID: StoreError]) {
    var transfers: [TransferID: StoredTransfer] = [:]
    var unreadable: [TransferID: StoreError] = [:]
    try saved.rows { row throws(StoreError) in
      do throws(StoreError) {
        let (app, saved) = try saved.read(row)
        transfers[saved.id] = saved.transfer(of: app)
      } catch {
        unreadable[TransferID(row.number(1))] = error
      }
    }
    return (transfers, unreadable)
  }

  /// The greatest number that a transfer ever had, also a forgotten transfer; 0 before the first.
  func last() throws(StoreError) -> UInt64 { try saved.last() }

  /// Saves a transfer of an app that has a row.
  func save(_ transfer: StoredTransfer, _ id: TransferID) throws(StoreError) {
    try saved.save(SavedTransfer(id, transfer), of: transfer.state.policy.app)
  }

  /// Saves the engine's state of a transfer that has a row.
  func save(_ state: TransferState, of id: TransferID) throws(StoreError) {
    try writeState.run(try Columns.values(of: DecidedTransfer(state)) + [id.columnValue])
  }

  /// Saves the progress of a transfer that has a row.
  func save(_ progress: TransferProgress, of id: TransferID) throws(StoreError) {
    try writeProgress.run(try Columns.values(of: progress) + [id.columnValue])
  }

  /// Forgets a transfer.
  func remove(_ id: TransferID) throws(StoreError) { try remove.run([id.columnValue]) }
}
