import RefreshEngine

/// The rows of a table that belong to apps: a column `app`, and one record in each row.
struct AppRows<Record: ColumnRecord> {
  private let table: String
  private let database: Database
  private let blank: Record
  private let all: Statement
  private let write: Statement

  /// Prepares the statements for a table.
  ///
  /// Each row is read into a copy of `blank`. The rows come in the order of the columns `order`.
  init(of table: String, _ blank: Record, order: String = "app", on database: Database) throws(StoreError) {
    (self.table, self.database, self.blank) = (table, database, blank)
    let names = try Columns.names(of: blank)
    all = try Statement(
      """
      SELECT app.id, \(names.of(table).list)
      FROM \(table) JOIN app ON app.key = \(table).app ORDER BY \(table).\(order)
      """, on: database, to: .read)
    write = try Statement(
      "INSERT OR REPLACE INTO \(table) (\(names.list), app) VALUES (\(names.parameters), \(AppTable.key))",
      on: database, to: .save)
  }

  /// Calls `body` with each row; ``read(_:)`` reads it.
  func rows(_ body: (Row) throws(StoreError) -> Void) throws(StoreError) { try all.rows(body: body) }

  func read(_ row: Row) throws(StoreError) -> (app: AppID, record: Record) {
    var record = blank
    try Columns.read(&record, from: row, at: 1)
    return (try AppID(row, 0), record)
  }

  /// The greatest number that a row ever had, also a deleted row; 0 before the first.
  func last() throws(StoreError) -> UInt64 {
    var last: UInt64 = 0
    try Statement("SELECT seq FROM sqlite_sequence WHERE name = ?", on: database, to: .read).rows(.text(table)) {
      row in last = row.number(0)
    }
    return last
  }

  /// Saves a record of an app that has a row.
  func save(_ record: Record, of app: AppID) throws(StoreError) {
    try write.run(try Columns.values(of: record) + [.text(app.description)])
  }
}

/// The rows of `learned`: the learners of each app.
struct LearnedTable {
  private struct Saved: ColumnRecord {
    var data: [UInt8] = []

    mutating func visit(_ column: inout Columns) throws(StoreError) { try column.blob("data", &data) }
  }

  private let saved: AppRows<Saved>
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    saved = try AppRows(of: "learned", Saved(), on: database)
    remove = try Statement("DELETE FROM learned WHERE app = \(AppTable.key)", on: database, to: .save)
  }

  /// The saved learners; drops learners in the form of another release.
  func load() throws(StoreError) -> [AppID: Learned] {
    var learned: [AppID: Learned] = [:]
    try saved.rows { row throws(StoreError) in
      let (app, saved) = try saved.read(row)
      learned[app] = Learned(encoded: saved.data)
    }
    return learned
  }

  /// Saves the learners of an app that has a row; nil deletes them.
  func save(_ learned: Learned?, of app: AppID) throws(StoreError) {
    guard let learned else { return try remove.run(.text(app.description)) }
    try saved.save(Saved(data: learned.encoded), of: app)
  }
}
