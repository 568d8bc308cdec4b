import RefreshEngine

/// The rows of `app`: one `AppState` each.
struct AppTable {
  /// The key of the row whose id is the parameter, as an expression of SQL.
  static let key = "(SELECT key FROM app WHERE id = ?)"

  private let all: Statement
  private let write: Statement
  private let writeID: Statement

  init(_ database: Database) throws(StoreError) {
    let names = try Columns.names(of: AppState())
    all = try Statement("SELECT id, \(names.list) FROM app", on: database, to: .read)
    // Not INSERT OR REPLACE: the row keeps its key, by which the history knows the app.
    write = try Statement(
      """
      INSERT INTO app (\(names.list), id) VALUES (\(names.parameters), ?)
      ON CONFLICT (id) DO UPDATE SET \(names.assignedFromExcluded)
      """, on: database, to: .save)
    writeID = try Statement("INSERT INTO app (id) VALUES (?) ON CONFLICT DO NOTHING", on: database, to: .save)
  }

  func load() throws(StoreError) -> [AppID: AppState] {
    var states: [AppID: AppState] = [:]
    try all.rows { row throws(StoreError) in
      var state = AppState()
      try Columns.read(&state, from: row, at: 1)
      states[try AppID(row, 0)] = state
    }
    return states
  }

  func save(_ state: AppState, of app: AppID) throws(StoreError) {
    try write.run(try Columns.values(of: state) + [.text(app.description)])
  }

  /// Adds a row for an app without one.
  func add(_ app: AppID) throws(StoreError) {
    try writeID.run(.text(app.description))
  }
}

extension AppState: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("is_foreground", &isForeground)
    try column("is_logged_out", &isLoggedOut)
    try column("last_start_us", &lastStart)
    try column("fresh_at_us", &freshAt)
    try column.optional(&request, blank: Request(trigger: .manual, earliest: .zero))
    try column.optional(&running, blank: Started(id: RefreshID(key: 0), trigger: .manual, at: .zero))
    try column("is_disabled", &isDisabled)
    try column.count("failures", &failures)
    try column.optional(&waiting, blank: Waiting(since: .zero, holds: []))
    try column("seen_at_us", &seenAt)
    try column("planned_us", &planned)
    try column("grid_us", &grid)
    try column("is_stale_told", &isStaleReported)
    try column("is_terminated", &isTerminated)
    try column("is_owner_present", &isOwnerPresent)
    // These values are boxed in the state: the visit changes them only when it reads.
    var (overrides, freshUntil, pushedAt, oneShot) = (overrides, freshUntil, pushedAt, oneShot)
    var (skippedUntil, strikes, episode) = (skippedUntil, strikes, episode)
    var keptUnit = keptUnit
    var (streak, skipsAll, wasAttached, isForced) = (streak, skipsAll, wasAttached, isForced)
    try column("foreground_interval", &overrides.foregroundInterval)
    try column("background_interval", &overrides.backgroundInterval)
    try column("fresh_until_us", &freshUntil)
    try column("pushed_us", &pushedAt)
    try column("skipped_until_us", &skippedUntil)
    try column("strikes_us", &strikes)
    try column.optional(&oneShot, blank: OneShot(earliest: .zero, reason: ""))
    try column.optional(&episode, blank: HeldEpisode(since: .zero))
    try column("kept_unit", &keptUnit)
    try column.optional(&streak, blank: FailureStreak(count: 0))
    try column("skips_all", &skipsAll)
    try column("was_attached", &wasAttached)
    try column("is_forced", &isForced)
    guard column.isReading else { return }
    self.keptUnit = keptUnit
    (self.overrides, self.freshUntil, self.pushedAt, self.oneShot) = (overrides, freshUntil, pushedAt, oneShot)
    (self.skippedUntil, self.strikes, self.episode) = (skippedUntil, strikes, episode)
    (self.streak, self.skipsAll, self.wasAttached, self.isForced) = (streak, skipsAll, wasAttached, isForced)
  }
}

extension Request: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("request_trigger", &trigger)
    try column("request_earliest_us", &earliest)
  }
}

extension Started: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("running_id", &id)
    try column("running_trigger", &trigger)
    try column("running_at_us", &at)
    try column("running_session", &session)
    try column("running_push", &push)
    try column("running_is_forced", &isForced)
  }
}

extension OneShot: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("one_shot_earliest_us", &earliest)
    try column("one_shot_reason", &reason)
  }
}

extension HeldEpisode: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("held_since_us", &since)
    try column("is_held_told", &isReported)
  }
}

extension FailureStreak: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column.count("streak_failures", &count)
    try column("is_streak_told", &isReported)
  }
}

extension Waiting: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("waiting_since_us", &since)
    try column("waiting_holds", &holds)
  }
}

extension Instant {
  /// A placeholder, which reading replaces.
  static let zero = Instant(microseconds: 0)
}

/// Deletes every row of an app: its state, its history and its learners.
struct Removal {
  private let deletes: [Statement]

  init(_ database: Database) throws(StoreError) {
    let tables = [
      "refresh", "wait", "learned", "opening", "transfer", "validator", "push", "push_dropped", "push_seen",
    ]
    let key = AppTable.key
    let tasks = "DELETE FROM task WHERE refresh IN (SELECT id FROM refresh WHERE app = \(key))"
    let all = [tasks] + tables.map { "DELETE FROM \($0) WHERE app = \(key)" } + ["DELETE FROM app WHERE id = ?"]
    deletes = try all.map { sql throws(StoreError) in try Statement(sql, on: database, to: .save) }
  }

  func remove(_ app: AppID) throws(StoreError) {
    for delete in deletes { try delete.run(.text(app.description)) }
  }
}

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

  /// The highest number of any row, deleted rows included; 0 if there was none.
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
  func load() throws(StoreError) -> [AppID: AppHabits] {
    var learned: [AppID: AppHabits] = [:]
    try saved.rows { row throws(StoreError) in
      let (app, saved) = try saved.read(row)
      learned[app] = AppHabits(encoded: saved.data)
    }
    return learned
  }

  /// Saves the learners of an app that has a row; nil deletes them.
  func save(_ learned: AppHabits?, of app: AppID) throws(StoreError) {
    guard let learned else { return try remove.run(.text(app.description)) }
    try saved.save(Saved(data: learned.encoded), of: app)
  }
}
