import RefreshEngine

/// The rows of `push`: one `Push` each.
struct PushTable {
  private let all: Statement
  private let readLast: Statement
  private let write: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    let names = try Columns.names(of: Push.blank)
    all = try Statement(
      """
      SELECT app.id, \(names.of("push").list)
      FROM push JOIN app ON app.key = push.app ORDER BY push.id
      """, on: database, to: .read)
    readLast = try Statement("SELECT seq FROM sqlite_sequence WHERE name = 'push'", on: database, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO push (\(names.list), app)
      VALUES (\(names.parameters), \(AppTable.key))
      """, on: database, to: .save)
    remove = try Statement("DELETE FROM push WHERE id = ?", on: database, to: .save)
  }

  /// The pushes of each app, in order of their numbers, and those whose rows no release can have written, with what is
  /// wrong with each.
  ///
  /// Such a row does not condemn the file, as with transfers.
  func load() throws(StoreError) -> (read: [AppID: [Push]], unreadable: [PushID: StoreError]) {
    var pushes: [AppID: [Push]] = [:]
    var unreadable: [PushID: StoreError] = [:]
    try all.rows { row throws(StoreError) in
      do throws(StoreError) {
        guard let app = AppID(row.text(0)) else { throw row.unreadable(0) }
        pushes[app, default: []].append(try Self.push(in: row))
      } catch {
        unreadable[PushID(row, 1)] = error
      }
    }
    return (pushes, unreadable)
  }

  private static func push(in row: Row) throws(StoreError) -> Push {
    guard row.integer(1) > 0 else { throw row.unreadable(1) }
    var push = Push.blank
    try Columns.read(&push, from: row, at: 1)
    return push
  }

  /// The greatest number that a push ever had, also one that is forgotten; 0 before the first.
  func last() throws(StoreError) -> UInt64 {
    var last: UInt64 = 0
    try readLast.rows { row throws(StoreError) in last = try row.exactly(0) }
    return last
  }

  /// Saves a push of an app that has a row.
  func save(_ push: Push, of app: AppID) throws(StoreError) {
    try write.run(try Columns.values(of: push) + [.text(app.description)])
  }

  /// Forgets a push.
  func remove(_ id: PushID) throws(StoreError) { try remove.run(id.columnValue) }
}

extension Push: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("id", &id)
    try column("payload", &payload)
    try column("content_id", &contentID)
    try column("urgency", &urgency)
    try column("arrived_us", &arrivedAt)
    try column("earliest_us", &earliest)
    try column.count("attempts", &attempts)
    try column.count("merged", &merged)
  }

  /// A push to read a row into.
  static var blank: Push { Push(id: PushID(0), payload: "", contentID: nil, urgency: .normal, at: .zero) }
}
