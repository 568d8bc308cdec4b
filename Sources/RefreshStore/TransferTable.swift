import RefreshEngine

/// The rows of `transfer`: one `StoredTransfer` each.
struct TransferTable {
  /// What never changes.
  private static let requestColumns = [
    "session", "host", "network", "enqueued_us", "direction", "url", "path", "description", "sha256", "length",
    "max_rate", "is_post", "is_tus", "headers_file", "credential_file", "uses_netrc", "notice",
  ]
  /// What the engine decides.
  private static let stateColumns = [
    "priority", "stage", "stage_word", "stage_us", "needed", "has_begun", "failures", "is_delivered",
  ]
  /// What workers tell.
  private static let progressColumns = [
    "attempts", "message", "bytes", "total", "checked_sha256", "resume_url", "resume_etag", "resume_last_modified",
    "resume_date", "resume_total", "durable", "resume_boot", "tus_url", "part_mark",
  ]

  private let all: Statement
  private let readLast: Statement
  private let write: Statement
  private let writeState: Statement
  private let writeProgress: Statement
  private let remove: Statement

  init(_ connection: Connection) throws(StoreError) {
    let columns = Self.requestColumns + Self.stateColumns + Self.progressColumns
    func update(_ columns: [String]) throws(StoreError) -> Statement {
      let assignments = columns.map { "\($0) = ?" }.joined(separator: ", ")
      return try Statement("UPDATE transfer SET \(assignments) WHERE id = ?", on: connection, to: .save)
    }
    all = try Statement(
      """
      SELECT transfer.id, app.id, \(columns.map { "transfer.\($0)" }.joined(separator: ", "))
      FROM transfer JOIN app ON app.key = transfer.app
      """, on: connection, to: .read)
    readLast = try Statement("SELECT seq FROM sqlite_sequence WHERE name = 'transfer'", on: connection, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO transfer (\(columns.joined(separator: ", ")), id, app)
      VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")), ?, \(AppTable.key))
      """, on: connection, to: .save)
    writeState = try update(Self.stateColumns)
    writeProgress = try update(Self.progressColumns)
    remove = try Statement("DELETE FROM transfer WHERE id = ?", on: connection, to: .save)
  }

  /// All transfers, and those whose rows no release can have written, with what is wrong with each.
  ///
  /// One such row does not cost the file: what it holds came from a server at last.
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
    let states = Int32(2 + requestColumns.count)
    var state = TransferState(
      policy: TransferPolicy(
        session: TransferSession(app: app, name: row.text(2)), host: row.text(3), network: try row.code(4),
        priority: try row.exactly(states), enqueuedAt: try row.instant(5)))
    try row.read(&state, from: states + 1)
    return StoredTransfer(
      state: state, request: try row.request(6), progress: try row.progress(states + Int32(stateColumns.count)))
  }

  /// The greatest number that a transfer ever had, also one that is forgotten; 0 before the first.
  func last() throws(StoreError) -> UInt64 {
    var last: UInt64 = 0
    try readLast.rows { row throws(StoreError) in last = try row.exactly(0) }
    return last
  }

  /// Saves a transfer of an app that has a row.
  func save(_ transfer: StoredTransfer, _ id: TransferID) throws(StoreError) {
    let policy = transfer.state.policy
    let values: [Value] =
      [
        .text(policy.session.name), .text(policy.host), .text(policy.network.code),
        .integer(policy.enqueuedAt.microseconds),
      ] + transfer.request.values + transfer.state.values + transfer.progress.values
    try write.run(values + [id.value, .text(policy.app.description)])
  }

  /// Saves what the engine decided of a transfer that has a row.
  func save(_ state: TransferState, of id: TransferID) throws(StoreError) {
    try writeState.run(state.values + [id.value])
  }

  /// Saves how far a transfer has come that has a row.
  func save(_ progress: TransferProgress, of id: TransferID) throws(StoreError) {
    try writeProgress.run(progress.values + [id.value])
  }

  /// Forgets a transfer.
  func remove(_ id: TransferID) throws(StoreError) { try remove.run([id.value]) }
}
