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
  /// As with transfers, such a row does not make the file a damaged file.
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

  /// The greatest number that a push ever had, also a forgotten push; 0 before the first.
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

  /// A push that reading overwrites.
  static var blank: Push { Push(id: PushID(0), payload: "", contentID: nil, urgency: .normal, at: .zero) }
}
