import RefreshEngine

/// The rows of `push_seen`: the messages that were taken, so that none is taken twice.
struct SeenMessageTable {
  /// How long a message is known: longer than any source keeps one for a client that is away.
  static let memory = Duration.hours(30 * 24)
  /// Messages of an app that are known.
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
  /// - Parameters:
  ///   - isNew: whether an id that is known is one that the source uses again.
  ///   - wall: Unix time in microseconds.
  mutating func note(_ message: String, of app: AppID, isNew: Bool, atWall wall: Int64) throws(StoreError) -> Bool {
    let oldest = wall - Self.memory.inMicroseconds
    try forget.run(.text(app.description), .text(message), isNew.columnValue, .integer(oldest))
    try insert.run(.text(message), .integer(wall), .text(app.description))
    var isNoted = false
    try changes.rows { row in isNoted = row.integer(0) > 0 }
    if isNoted { try bound.added(app) }
    return isNoted
  }

  /// Forgets that a message was taken.
  func remove(_ message: String, of app: AppID) throws(StoreError) {
    try forget.run(.text(app.description), .text(message), true.columnValue, .integer(0))
  }
}
