import RefreshEngine

extension Urgency: DiskCode {
  var code: String { rawValue }
}

extension PushID {
  var value: Value { .integer(Int64(bitPattern: number)) }
}

/// The rows of `push`: one `Push` each.
struct PushTable {
  private static let columns = [
    "id", "payload", "content_id", "urgency", "arrived_us", "earliest_us", "attempts", "merged",
  ]

  private let all: Statement
  private let readLast: Statement
  private let write: Statement
  private let remove: Statement

  init(_ connection: Connection) throws(StoreError) {
    all = try Statement(
      """
      SELECT \(Self.columns.map { "push.\($0)" }.joined(separator: ", ")), app.id
      FROM push JOIN app ON app.key = push.app ORDER BY push.id
      """, on: connection, to: .read)
    readLast = try Statement("SELECT seq FROM sqlite_sequence WHERE name = 'push'", on: connection, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO push (\(Self.columns.joined(separator: ", ")), app)
      VALUES (\(Self.columns.map { _ in "?" }.joined(separator: ", ")), \(AppTable.key))
      """, on: connection, to: .save)
    remove = try Statement("DELETE FROM push WHERE id = ?", on: connection, to: .save)
  }

  /// The pushes of each app, in order of their numbers, and those whose rows no release can have written, with what is
  /// wrong with each.
  ///
  /// One such row does not cost the file, as with transfers.
  func load() throws(StoreError) -> (read: [AppID: [Push]], unreadable: [PushID: StoreError]) {
    var pushes: [AppID: [Push]] = [:]
    var unreadable: [PushID: StoreError] = [:]
    try all.rows { row throws(StoreError) in
      do throws(StoreError) {
        guard let app = AppID(row.text(8)) else { throw row.unreadable(8) }
        pushes[app, default: []].append(try Self.push(in: row))
      } catch {
        unreadable[row.pushID(0)] = error
      }
    }
    return (pushes, unreadable)
  }

  private static func push(in row: Row) throws(StoreError) -> Push {
    guard row.integer(0) > 0 else { throw row.unreadable(0) }
    var push = Push(
      id: row.pushID(0), payload: row.text(1), contentID: row.optionalText(2), urgency: try row.code(3),
      at: try row.instant(4))
    push.earliest = try row.instant(5)
    push.attempts = try row.count(6)
    push.merged = try row.count(7)
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
    try write.run(
      push.id.value, .text(push.payload), Value(push.contentID), .text(push.urgency.code),
      .integer(push.arrivedAt.microseconds), .integer(push.earliest.microseconds), .integer(Int64(push.attempts)),
      .integer(Int64(push.merged)), .text(app.description))
  }

  /// Forgets a push.
  func remove(_ id: PushID) throws(StoreError) { try remove.run(id.value) }
}

extension Row {
  /// The push whose number is in the column.
  func pushID(_ column: Int32) -> PushID { PushID(UInt64(bitPattern: integer(column))) }
}
