import RefreshEngine

/// A push of which an app was never told, as the history has it, readable after any number of boots.
public struct StoredDroppedPush: Hashable, Sendable {
  /// Its number.
  public var id: PushID
  /// Its app.
  public var app: AppID
  /// The subject; nil when the sender named none.
  public var contentID: String?
  /// When it came: Unix time in microseconds, by the wall clock as it stood when it was dropped.
  public var arrivedWallMicroseconds: Int64
  /// When it was dropped: Unix time in microseconds, by the same wall clock.
  public var droppedWallMicroseconds: Int64
  /// How many older payloads it had replaced.
  public var merged: Int32

  /// The line of the history for a push that has just been dropped.
  ///
  /// - Parameter wallOffset: wall time (Unix time) less boot time, when it was dropped.
  public init(_ push: DroppedPush, wallOffset: Duration) {
    id = push.id
    app = push.app
    contentID = push.contentID
    arrivedWallMicroseconds = (push.arrivedAt + wallOffset).microseconds
    droppedWallMicroseconds = (push.droppedAt + wallOffset).microseconds
    merged = push.merged
  }

  fileprivate init(_ row: Row, of app: AppID) throws(StoreError) {
    id = PushID(row, 0)
    self.app = app
    contentID = row.optionalText(1)
    arrivedWallMicroseconds = try row.microseconds(2)
    droppedWallMicroseconds = try row.microseconds(3)
    merged = try row.count(4)
  }
}

/// The rows of `push_dropped`: the part of the history that says of which pushes an app was never told.
struct DroppedPushTable {
  private static let columns = "id, content_id, arrived_wall_us, dropped_wall_us, merged"

  private let insert: Statement
  private let selectNewest: Statement
  private var bound: HistoryBound

  init(_ database: Database) throws(StoreError) {
    insert = try Statement(
      """
      INSERT INTO push_dropped (\(Self.columns), app) VALUES (?, ?, ?, ?, ?, \(AppTable.key)) ON CONFLICT DO NOTHING
      """, on: database, to: .save)
    selectNewest = try Statement(
      "SELECT \(Self.columns) FROM push_dropped WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT ?", on: database,
      to: .read)
    bound = try HistoryBound(of: "push_dropped", on: database)
  }

  /// Adds a line of an app that has a row.
  mutating func add(_ push: StoredDroppedPush) throws(StoreError) {
    try insert.run(
      push.id.columnValue, Value(push.contentID), .integer(push.arrivedWallMicroseconds),
      .integer(push.droppedWallMicroseconds), .integer(Int64(push.merged)), .text(push.app.description))
    try bound.added(push.app)
  }

  /// The newest of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredDroppedPush] {
    var found: [StoredDroppedPush] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      found.append(try StoredDroppedPush(row, of: app))
    }
    return found
  }
}
