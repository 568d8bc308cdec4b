import RefreshEngine

/// The rows of `opening`: when the user brought an app to the foreground.
struct OpeningTable {
  private let insert: Statement
  private let selectNewest: Statement
  private var bound: HistoryBound

  init(_ database: Database) throws(StoreError) {
    insert = try Statement("INSERT INTO opening (wall_us, app) VALUES (?, \(AppTable.key))", on: database, to: .save)
    selectNewest = try Statement(
      "SELECT wall_us FROM opening WHERE app = \(AppTable.key) ORDER BY id DESC", on: database, to: .read)
    bound = try HistoryBound(of: "opening", depth: HistoryBound.openings, on: database)
  }

  /// Adds an opening of an app that has a row; Unix time in microseconds.
  mutating func add(_ app: AppID, atWall microseconds: Int64) throws(StoreError) {
    try insert.run(.integer(microseconds), .text(app.description))
    try bound.added(app)
  }

  /// The openings of an app that are kept, newest first, in microseconds of Unix time.
  func all(of app: AppID) throws(StoreError) -> [Int64] {
    var found: [Int64] = []
    try selectNewest.rows(.text(app.description)) { row throws(StoreError) in found.append(try row.microseconds(0)) }
    return found
  }
}
