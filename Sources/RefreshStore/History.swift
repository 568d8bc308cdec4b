import RefreshEngine

/// A refresh as the history has it, readable after any number of boots.
public struct StoredRefresh: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Its app.
  public var app: AppID
  /// Why it started.
  public var trigger: Trigger
  /// When it started: Unix time in microseconds, by the wall clock as it stood at its end.
  public var startedWallMicroseconds: Int64
  /// From its start to its end.
  public var duration: Duration
  /// The outcome of the group.
  public var outcome: Outcome
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?
  /// Completions that came after the first for a task.
  public var extraCompletions: Int
  /// The tasks, in the order of the file.
  public var tasks: [TaskRecord]
}

/// The rows of `refresh` and `task`.
struct History {
  /// Refreshes of an app that are always kept.
  ///
  /// Two days at the shortest background interval, half a year at once a day.
  static let depth = 200
  /// An app's history is cut after so many more, not at each: a cut dirties a page that the new row does not touch.
  static let slack = 16

  private static let columns = """
    app, start, number, trigger, started_wall_us, duration_us, outcome, cause, cause_code, cause_text, stop_reason, \
    extra_completions
    """
  private static let taskColumns = """
    app, start, number, position, name, outcome, cause, cause_code, cause_text, duration_us, cpu_us, message
    """

  private let insert: Statement
  private let insertTask: Statement
  private let oldestKept: Statement
  private let cut: Statement
  private let cutTasks: Statement
  private let selectNewest: Statement
  private let selectLast: Statement
  private let selectTasks: Statement
  private var addedSinceCut: [AppID: UInt8] = [:]

  init(_ connection: Connection) throws(StoreError) {
    func prepare(_ sql: String, to purpose: StoreError.Purpose) throws(StoreError) -> Statement {
      try Statement(sql, on: connection, to: purpose)
    }
    // A refresh has one outcome: the first that was saved.
    let places = "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    insert = try prepare("INSERT INTO refresh (\(Self.columns)) \(places)", to: .save)
    insertTask = try prepare("INSERT INTO task (\(Self.taskColumns)) \(places)", to: .save)
    oldestKept = try prepare(
      "SELECT start, number FROM refresh WHERE app = ? ORDER BY start DESC, number DESC LIMIT 1 OFFSET ?", to: .save)
    cut = try prepare("DELETE FROM refresh WHERE app = ? AND (start, number) < (?, ?)", to: .save)
    cutTasks = try prepare("DELETE FROM task WHERE app = ? AND (start, number) < (?, ?)", to: .save)
    selectNewest = try prepare(
      "SELECT \(Self.columns) FROM refresh WHERE app = ? ORDER BY start DESC, number DESC LIMIT ?", to: .read)
    // One descent of the tree an app, where GROUP BY would read the whole history.
    selectLast = try prepare(
      """
      SELECT \(Self.columns) FROM refresh WHERE (app, start, number) IN (
        SELECT id, newest.start, newest.number FROM app CROSS JOIN refresh AS newest
        ON newest.app = id AND (newest.start, newest.number) = (
          SELECT start, number FROM refresh WHERE app = id ORDER BY start DESC, number DESC LIMIT 1))
      """, to: .read)
    selectTasks = try prepare(
      "SELECT \(Self.taskColumns) FROM task WHERE app = ? AND start = ? AND number = ? ORDER BY position", to: .read)
  }

  /// Adds a line, with `clock` to tell its wall time.
  mutating func add(_ record: RefreshRecord, clock: BootClock) throws(StoreError) {
    let app = Value.text(record.app.description)
    let (start, number) = (Value.integer(Int64(record.id.start)), Value.integer(Int64(record.id.number)))
    let outcome = OutcomeColumns(record.outcome)
    try insert.run(
      app, start, number, .text(record.trigger.code), .integer(clock.wall(record.startedAt)),
      .integer(record.startedAt.duration(to: record.endedAt).inMicroseconds), .text(outcome.outcome),
      Value(outcome.cause), Value(outcome.causeCode), Value(outcome.causeText), Value(record.stopReason?.code),
      .integer(Int64(record.extraCompletions)))
    for (position, task) in record.tasks.enumerated() {
      let outcome = OutcomeColumns(task.outcome)
      try insertTask.run(
        app, start, number, .integer(Int64(position)), .text(task.name), .text(outcome.outcome),
        Value(outcome.cause), Value(outcome.causeCode), Value(outcome.causeText),
        .integer(task.duration.inMicroseconds), .integer(task.cpu.inMicroseconds), .text(task.message))
    }
    try cutIfLong(record.app)
  }

  /// The newest refreshes of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredRefresh] {
    var found: [StoredRefresh] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      found.append(try refresh(row))
    }
    return found
  }

  /// The newest refresh of each app that has one.
  func last() throws(StoreError) -> [AppID: StoredRefresh] {
    var found: [AppID: StoredRefresh] = [:]
    try selectLast.rows { row throws(StoreError) in
      let refresh = try refresh(row)
      found[refresh.app] = refresh
    }
    return found
  }

  private mutating func cutIfLong(_ app: AppID) throws(StoreError) {
    // The first of a start cuts too, or an app that is refreshed seldom and a daemon that is restarted often would
    // never meet.
    let added = addedSinceCut[app] ?? UInt8(Self.slack)
    guard added >= Self.slack else {
      addedSinceCut[app] = added + 1
      return
    }
    var oldest: (start: Int64, number: Int64)?
    let offset = Value.integer(Int64(Self.depth - 1))
    try oldestKept.rows(.text(app.description), offset) { row in oldest = (row.integer(0), row.integer(1)) }
    if let oldest {
      try cut.run(.text(app.description), .integer(oldest.start), .integer(oldest.number))
      try cutTasks.run(.text(app.description), .integer(oldest.start), .integer(oldest.number))
    }
    addedSinceCut[app] = 1
  }

  private func refresh(_ row: Row) throws(StoreError) -> StoredRefresh {
    guard let app = AppID(row.text(0)) else { throw row.unreadable(0) }
    let id = RefreshID(start: try row.exactly(1), number: try row.exactly(2))
    return StoredRefresh(
      id: id, app: app, trigger: try row.code(3), startedWallMicroseconds: row.integer(4),
      duration: .microseconds(row.integer(5)), outcome: try row.outcome(6), stopReason: try row.optional(10, row.code),
      extraCompletions: try row.exactly(11), tasks: try tasks(of: app, id))
  }

  private func tasks(of app: AppID, _ id: RefreshID) throws(StoreError) -> [TaskRecord] {
    var found: [TaskRecord] = []
    let key = (Value.integer(Int64(id.start)), Value.integer(Int64(id.number)))
    try selectTasks.rows(.text(app.description), key.0, key.1) { row throws(StoreError) in
      found.append(
        TaskRecord(
          name: row.text(4), outcome: try row.outcome(5), duration: .microseconds(row.integer(9)),
          cpu: .microseconds(row.integer(10)), message: row.text(11)))
    }
    return found
  }
}
