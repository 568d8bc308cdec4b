import RefreshEngine

/// The rows of `app`: one `AppState` each.
struct AppTable {
  /// The key of the row whose id is the parameter, as an expression of SQL.
  static let key = "(SELECT key FROM app WHERE id = ?)"

  private static let columns = [
    "id", "is_foreground", "is_logged_out", "foreground_interval", "background_interval", "last_start_us",
    "fresh_at_us", "request_trigger", "request_earliest_us", "running_id", "running_trigger", "running_at_us",
    "is_disabled", "skipped_until_us", "failures", "strikes_us", "one_shot_earliest_us", "one_shot_reason",
    "waiting_since_us", "waiting_holds", "seen_at_us", "planned_us",
    "is_stale_told", "running_session", "fresh_until_us", "running_push", "pushed_us", "is_terminated",
  ]

  private let all: Statement
  private let write: Statement
  private let writeID: Statement

  init(_ connection: Connection) throws(StoreError) {
    let columns = Self.columns.joined(separator: ", ")
    all = try Statement("SELECT \(columns) FROM app", on: connection, to: .read)
    // Not INSERT OR REPLACE: the row keeps its key, by which the history knows the app.
    write = try Statement(
      """
      INSERT INTO app (\(columns)) VALUES (\(Self.columns.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (id) DO UPDATE SET \(Self.columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      """, on: connection, to: .save)
    writeID = try Statement("INSERT INTO app (id) VALUES (?) ON CONFLICT DO NOTHING", on: connection, to: .save)
  }

  func load() throws(StoreError) -> [AppID: AppState] {
    var states: [AppID: AppState] = [:]
    try all.rows { row throws(StoreError) in
      guard let id = AppID(row.text(0)) else { throw row.unreadable(0) }
      states[id] = try Self.state(row)
    }
    return states
  }

  func save(_ state: AppState, of app: AppID) throws(StoreError) {
    let (request, running) = (state.request, state.running)
    try write.run(
      .text(app.description), .integer(state.isForeground ? 1 : 0), .integer(state.isLoggedOut ? 1 : 0),
      Value(state.overrides.foregroundInterval?.code), Value(state.overrides.backgroundInterval?.code),
      Value(state.lastStart?.microseconds), Value(state.freshAt?.microseconds),
      Value(request?.trigger.code), Value(request?.earliest.microseconds),
      Value(running?.id.key), Value(running?.trigger.code), Value(running?.at.microseconds),
      .integer(state.isDisabled ? 1 : 0), Value(state.skippedUntil?.microseconds), .integer(Int64(state.failures)),
      .text(state.strikes.code), Value(state.oneShot?.earliest.microseconds), Value(state.oneShot?.reason),
      Value(state.waiting?.since.microseconds), Value(state.waiting?.holds.code), Value(state.seenAt?.microseconds),
      Value(state.planned?.microseconds), .integer(state.isStaleTold ? 1 : 0),
      Value(running?.session), Value(state.freshUntil?.microseconds), running?.push?.value ?? .null,
      .text(state.pushedAt.code), Value(state.isTerminated))
  }

  /// Makes a row for an app that has none.
  func add(_ app: AppID) throws(StoreError) {
    try writeID.run(.text(app.description))
  }

  private static func state(_ row: Row) throws(StoreError) -> AppState {
    var state = AppState(
      isForeground: row.integer(1) != 0, isLoggedOut: row.integer(2) != 0,
      overrides: Overrides(
        foregroundInterval: try row.optional(3, row.interval), backgroundInterval: try row.optional(4, row.interval)),
      lastStart: try row.optional(5, row.instant), freshAt: try row.optional(6, row.instant),
      request: try row.optional(7) { column throws(StoreError) in
        Request(trigger: try row.code(column), earliest: try row.instant(8))
      },
      running: try row.optional(9) { column throws(StoreError) in
        Started(
          id: row.refreshID(column), trigger: try row.code(10), at: try row.instant(11), session: row.optionalText(23),
          push: try row.optional(25) { row.pushID($0) })
      })
    state.isDisabled = row.integer(12) != 0
    state.skippedUntil = try row.optional(13, row.instant)
    state.failures = try row.count(14)
    state.strikes = try row.instants(15)
    state.oneShot = try row.optional(16) { column throws(StoreError) in
      OneShot(earliest: try row.instant(column), reason: row.text(17))
    }
    state.waiting = try row.optional(18) { column throws(StoreError) in
      Waiting(since: try row.instant(column), holds: try row.holds(19))
    }
    state.seenAt = try row.optional(20, row.instant)
    state.planned = try row.optional(21, row.instant)
    state.isStaleTold = row.integer(22) != 0
    state.freshUntil = try row.optional(24, row.instant)
    state.pushedAt = try row.instants(26)
    state.isTerminated = row.integer(27) != 0
    return state
  }
}

extension Row {
  fileprivate func interval(_ column: Int32) throws(StoreError) -> Interval {
    guard let interval = Interval(code: text(column)) else { throw unreadable(column) }
    return interval
  }

  /// A count to which one may be added.
  func count(_ column: Int32) throws(StoreError) -> Int32 {
    let count: Int32 = try exactly(column)
    guard (0 ..< .max).contains(count) else { throw unreadable(column) }
    return count
  }
}
