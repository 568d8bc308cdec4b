import RefreshEngine

/// The rows of `push_seen`: the accepted messages, so that none is accepted twice.
struct SeenMessageTable {
  /// How long a message stays known: longer than any source keeps messages for an absent client.
  static let memory = Duration.hours(30 * 24)
  /// How many messages of an app stay known.
  static let depth = 1_000

  private let forget: Statement
  private let insert: Statement
  private let changes: Statement
  private var bound: HistoryBound

  init(_ database: Database) throws(StoreError) {
    forget = try Statement(
      "DELETE FROM push_seen WHERE app = \(AppTable.key) AND message = ? AND (? OR wall_us < ?)", on: database,
      to: .save)
    insert = try Statement(
      "INSERT INTO push_seen (message, wall_us, app) VALUES (?, ?, \(AppTable.key)) ON CONFLICT DO NOTHING",
      on: database, to: .save)
    changes = try Statement("SELECT changes()", on: database, to: .save)
    bound = try HistoryBound(of: "push_seen", depth: Self.depth, on: database)
  }

  /// Records a message for an app that has a row; false if it was recorded before.
  ///
  /// If the source says that the message is new (`isNew`), a known id is a reused id. `wall` is Unix time in
  /// microseconds.
  mutating func note(_ message: String, of app: AppID, isNew: Bool, atWall wall: Int64) throws(StoreError) -> Bool {
    let oldest = wall - Self.memory.inMicroseconds
    try forget.run(.text(app.description), .text(message), isNew.columnValue, .integer(oldest))
    try insert.run(.text(message), .integer(wall), .text(app.description))
    var isNoted = false
    try changes.rows { row in isNoted = row.integer(0) > 0 }
    if isNoted { try bound.added(app) }
    return isNoted
  }

  /// Forgets that a message was accepted.
  func remove(_ message: String, of app: AppID) throws(StoreError) {
    try forget.run(.text(app.description), .text(message), true.columnValue, .integer(0))
  }
}
