import RefreshEngine

/// The rows of `push`: one `Push` each.
struct PushTable {
  private let saved: AppRows<Push>
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    saved = try AppRows(of: "push", .blank, order: "id", on: database)
    remove = try Statement("DELETE FROM push WHERE id = ?", on: database, to: .save)
  }

  /// The pushes of each app, in order of their numbers, and the rows that no release writes, each with its error.
  ///
  /// As with transfers, such a row does not make the whole file damaged.
  func load() throws(StoreError) -> (read: [AppID: [Push]], unreadable: [PushID: StoreError]) {
    var pushes: [AppID: [Push]] = [:]
    var unreadable: [PushID: StoreError] = [:]
    try saved.rows { row throws(StoreError) in
      do throws(StoreError) {
        let (app, push) = try saved.read(row)
        pushes[app, default: []].append(push)
      } catch {
        unreadable[PushID(row.number(1))] = error
      }
    }
    return (pushes, unreadable)
  }

  /// The highest number of any push, forgotten pushes included; 0 if there was none.
  func last() throws(StoreError) -> UInt64 { try saved.last() }

  /// Saves a push of an app that has a row.
  func save(_ push: Push, of app: AppID) throws(StoreError) { try saved.save(push, of: app) }

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

  /// An empty push, which reading fills.
  static var blank: Push { Push(id: PushID(0), payload: "", contentID: nil, urgency: .normal, at: .zero) }
}

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
  mutating func record(_ message: String, of app: AppID, isNew: Bool, atWall wall: Int64) throws(StoreError) -> Bool {
    let oldest = wall - Self.memory.inMicroseconds
    try forget.run(.text(app.description), .text(message), isNew.columnValue, .integer(oldest))
    try insert.run(.text(message), .integer(wall), .text(app.description))
    var isRecorded = false
    try changes.rows { row in isRecorded = row.integer(0) > 0 }
    if isRecorded { try bound.added(app) }
    return isRecorded
  }

  /// Forgets that a message was accepted.
  func remove(_ message: String, of app: AppID) throws(StoreError) {
    try forget.run(.text(app.description), .text(message), true.columnValue, .integer(0))
  }
}
