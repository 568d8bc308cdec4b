import RefreshEngine

/// A line of the history of an app, readable after any number of boots.
protocol HistoryLine: ColumnRecord {
  /// The table of such lines, with a column `app` and an `id` in the order of time.
  static var table: String { get }
  /// Makes a line that reading overwrites.
  init()
}

/// The rows of one kind of history lines, a few hundred for each app.
struct HistoryTable<Line: HistoryLine> {
  private let insert: Statement
  private let selectNewest: Statement
  private var bound: HistoryBound

  init(details: String? = nil, depth: Int = HistoryBound.depth, on database: Database) throws(StoreError) {
    let names = try Columns.names(of: Line())
    // An existing line stays: a refresh has one outcome, the first that was saved.
    insert = try Statement(
      """
      INSERT INTO \(Line.table) (\(names.list), app) VALUES (\(names.parameters), \(AppTable.key)) ON CONFLICT DO NOTHING
      """, on: database, to: .save)
    selectNewest = try Statement(
      "SELECT \(names.list) FROM \(Line.table) WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT ?", on: database,
      to: .read)
    bound = try HistoryBound(of: Line.table, details: details, depth: depth, on: database)
  }

  /// Adds a line of an app that has a row.
  mutating func add(_ line: Line, of app: AppID) throws(StoreError) {
    try insert.run(try Columns.values(of: line) + [.text(app.description)])
    try bound.added(app)
  }

  /// The newest lines of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [Line] {
    var found: [Line] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      var line = Line()
      try Columns.read(&line, from: row, at: 0)
      found.append(line)
    }
    return found
  }
}
