import RefreshEngine

/// The rows of `wait`: the part of the history that says when an app was held.
struct WaitTable {
  private static let columns = "since_wall_us, until_wall_us, holds"

  private let insert: Statement
  private let selectNewest: Statement
  private var bound: HistoryBound

  init(_ database: Database) throws(StoreError) {
    insert = try Statement(
      "INSERT INTO wait (\(Self.columns), app) VALUES (?, ?, ?, \(AppTable.key))", on: database, to: .save)
    selectNewest = try Statement(
      "SELECT \(Self.columns) FROM wait WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT ?", on: database, to: .read
    )
    bound = try HistoryBound(of: "wait", on: database)
  }

  /// Adds a line of an app that has a row.
  mutating func add(_ wait: StoredWait) throws(StoreError) {
    try insert.run(
      .integer(wait.sinceWallMicroseconds), .integer(wait.untilWallMicroseconds), wait.holds.columnValue,
      .text(wait.app.description))
    try bound.added(wait.app)
  }

  /// The newest waits of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredWait] {
    var found: [StoredWait] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      found.append(
        StoredWait(
          app: app, sinceWallMicroseconds: try row.microseconds(0), untilWallMicroseconds: try row.microseconds(1),
          holds: try [Hold.Name](row, 2)))
    }
    return found
  }
}
