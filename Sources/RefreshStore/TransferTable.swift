import RefreshEngine

/// The rows of `transfer`: one `StoredTransfer` each.
struct TransferTable {
  private let all: Statement
  private let readLast: Statement
  private let write: Statement
  private let writeState: Statement
  private let writeProgress: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    let decided = try Columns.names(of: DecidedTransfer())
    let progress = try Columns.names(of: TransferProgress())
    let names = try Columns.names(of: AskedTransfer()) + decided + progress
    func update(_ names: [String]) throws(StoreError) -> Statement {
      try Statement("UPDATE transfer SET \(names.assigned) WHERE id = ?", on: database, to: .save)
    }
    all = try Statement(
      """
      SELECT transfer.id, app.id, \(names.of("transfer").list)
      FROM transfer JOIN app ON app.key = transfer.app
      """, on: database, to: .read)
    readLast = try Statement("SELECT seq FROM sqlite_sequence WHERE name = 'transfer'", on: database, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO transfer (\(names.list), id, app)
      VALUES (\(names.parameters), ?, \(AppTable.key))
      """, on: database, to: .save)
    writeState = try update(decided)
    writeProgress = try update(progress)
    remove = try Statement("DELETE FROM transfer WHERE id = ?", on: database, to: .save)
  }

  /// All transfers, and those whose rows no release can have written, with what is wrong with each.
  ///
  /// Such a row does not condemn the file: its content came from a server.
  func load() throws(StoreError) -> (read: [TransferID: StoredTransfer], unreadable: [TransferID: StoreError]) {
    var transfers: [TransferID: StoredTransfer] = [:]
    var unreadable: [TransferID: StoreError] = [:]
    try all.rows { row throws(StoreError) in
      let id = TransferID(UInt64(bitPattern: row.integer(0)))
      do throws(StoreError) {
        guard row.integer(0) > 0 else { throw row.unreadable(0) }
        transfers[id] = try Self.transfer(in: row)
      } catch {
        unreadable[id] = error
      }
    }
    return (transfers, unreadable)
  }

  private static func transfer(in row: Row) throws(StoreError) -> StoredTransfer {
    guard let app = AppID(row.text(1)) else { throw row.unreadable(1) }
    var (asked, decided, progress) = (AskedTransfer(), DecidedTransfer(), TransferProgress())
    var next = try Columns.read(&asked, from: row, at: 2)
    next = try Columns.read(&decided, from: row, at: next)
    try Columns.read(&progress, from: row, at: next)
    return StoredTransfer(state: asked.state(of: app, decided), request: asked.request, progress: progress)
  }

  /// The greatest number that a transfer ever had, also one that is forgotten; 0 before the first.
  func last() throws(StoreError) -> UInt64 {
    var last: UInt64 = 0
    try readLast.rows { row throws(StoreError) in last = try row.exactly(0) }
    return last
  }

  /// Saves a transfer of an app that has a row.
  func save(_ transfer: StoredTransfer, _ id: TransferID) throws(StoreError) {
    let values =
      try Columns.values(of: AskedTransfer(transfer)) + Columns.values(of: DecidedTransfer(transfer.state))
      + Columns.values(of: transfer.progress)
    try write.run(values + [id.columnValue, .text(transfer.state.policy.app.description)])
  }

  /// Saves what the engine decided of a transfer that has a row.
  func save(_ state: TransferState, of id: TransferID) throws(StoreError) {
    try writeState.run(try Columns.values(of: DecidedTransfer(state)) + [id.columnValue])
  }

  /// Saves how far a transfer has come that has a row.
  func save(_ progress: TransferProgress, of id: TransferID) throws(StoreError) {
    try writeProgress.run(try Columns.values(of: progress) + [id.columnValue])
  }

  /// Forgets a transfer.
  func remove(_ id: TransferID) throws(StoreError) { try remove.run([id.columnValue]) }
}
