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
  /// The push that the app was told with it; nil when it told none.
  public var push: ToldPush?
}

/// The rows of `refresh` and `task`.
struct History {
  private static let columns = """
    trigger, started_wall_us, duration_us, outcome, cause, cause_code, cause_text, stop_reason, \
    extra_completions, content_id, merged
    """
  private static let taskColumns = """
    refresh, position, name, outcome, cause, cause_code, cause_text, duration_us, cpu_us, message, bytes
    """

  private let insert: Statement
  private let insertTask: Statement
  private let selectNewest: Statement
  private let selectLast: Statement
  private let selectTasks: Statement
  private var bound: HistoryBound

  init(_ database: Database) throws(StoreError) {
    func prepare(_ sql: String, to purpose: StoreError.Purpose) throws(StoreError) -> Statement {
      try Statement(sql, on: database, to: purpose)
    }
    // A refresh has one outcome: the first that was saved.
    insert = try prepare(
      """
      INSERT INTO refresh (id, \(Self.columns), app)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \(AppTable.key)) ON CONFLICT DO NOTHING
      """, to: .save)
    insertTask = try prepare(
      "INSERT INTO task (\(Self.taskColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      to: .save)
    selectNewest = try prepare(
      "SELECT id, \(Self.columns) FROM refresh WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT ?", to: .read)
    selectLast = try prepare(
      """
      SELECT refresh.id, \(Self.columns), app.id FROM app
      JOIN refresh ON refresh.id = (SELECT max(id) FROM refresh WHERE app = app.key)
      """, to: .read)
    selectTasks = try prepare("SELECT \(Self.taskColumns) FROM task WHERE refresh = ? ORDER BY position", to: .read)
    bound = try HistoryBound(of: "refresh", details: "task", on: database)
  }

  /// Adds a line of an app that has a row, with `clock` to tell its wall time.
  mutating func add(_ record: RefreshRecord, clock: BootClock) throws(StoreError) {
    let id = Value.integer(record.id.key)
    let outcome = OutcomeColumns(record.outcome)
    try insert.run(
      id, .text(record.trigger.code), .integer(clock.wall(record.startedAt)),
      .integer(record.startedAt.duration(to: record.endedAt).inMicroseconds), .text(outcome.outcome),
      Value(outcome.cause), Value(outcome.causeCode), Value(outcome.causeText), Value(record.stopReason?.code),
      .integer(Int64(record.extraCompletions)), Value(record.push?.contentID),
      Value((record.push?.merged).map(Int64.init)), .text(record.app.description))
    for (position, task) in record.tasks.enumerated() {
      let outcome = OutcomeColumns(task.outcome)
      try insertTask.run(
        id, .integer(Int64(position)), .text(task.name), .text(outcome.outcome), Value(outcome.cause),
        Value(outcome.causeCode), Value(outcome.causeText), .integer(task.duration.inMicroseconds),
        .integer(task.cpu.inMicroseconds), .text(task.message), Value(task.bytes))
    }
    try bound.added(record.app)
  }

  /// The newest refreshes of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredRefresh] {
    var found: [StoredRefresh] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      found.append(try refresh(row, of: app))
    }
    return found
  }

  /// The newest refresh of each app that has one.
  func last() throws(StoreError) -> [AppID: StoredRefresh] {
    var found: [AppID: StoredRefresh] = [:]
    try selectLast.rows { row throws(StoreError) in
      guard let app = AppID(row.text(12)) else { throw row.unreadable(12) }
      found[app] = try refresh(row, of: app)
    }
    return found
  }

  private func refresh(_ row: Row, of app: AppID) throws(StoreError) -> StoredRefresh {
    let id = row.refreshID(0)
    return StoredRefresh(
      id: id, app: app, trigger: try row.code(1), startedWallMicroseconds: row.integer(2),
      duration: .microseconds(row.integer(3)), outcome: try row.outcome(4), stopReason: try row.optional(8, row.code),
      extraCompletions: try row.exactly(9), tasks: try tasks(of: id),
      push: try row.optional(11) { column throws(StoreError) in
        ToldPush(contentID: row.optionalText(10), merged: try row.count(column))
      })
  }

  private func tasks(of id: RefreshID) throws(StoreError) -> [TaskRecord] {
    var found: [TaskRecord] = []
    try selectTasks.rows(.integer(id.key)) { row throws(StoreError) in
      found.append(
        TaskRecord(
          name: row.text(2), outcome: try row.outcome(3), duration: .microseconds(row.integer(7)),
          cpu: .microseconds(row.integer(8)), message: row.text(9),
          bytes: try row.optional(10) { row.integer($0) }))
    }
    return found
  }
}
