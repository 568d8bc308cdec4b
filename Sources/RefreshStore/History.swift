import RefreshEngine

/// The rows of `refresh` and `task`: the ended refreshes.
struct History {
  private var refreshes: HistoryTable<StoredRefresh>
  private let insertTask: Statement
  private let selectTasks: Statement
  private let selectLast: Statement

  init(_ database: Database) throws(StoreError) {
    refreshes = try HistoryTable(details: "task", on: database)
    let tasks = try Columns.names(of: TaskRecord.blank)
    insertTask = try Statement(
      "INSERT INTO task (\(tasks.list), refresh, position) VALUES (\(tasks.parameters), ?, ?) ON CONFLICT DO NOTHING",
      on: database, to: .save)
    selectTasks = try Statement(
      "SELECT \(tasks.list) FROM task WHERE refresh = ? ORDER BY position", on: database, to: .read)
    selectLast = try Statement(
      """
      SELECT app.id, \(try Columns.names(of: StoredRefresh()).of("refresh").list) FROM app
      JOIN refresh ON refresh.id = (SELECT max(id) FROM refresh WHERE app = app.key)
      """, on: database, to: .read)
  }

  /// Adds a refresh of an app that has a row.
  mutating func add(_ refresh: StoredRefresh, of app: AppID) throws(StoreError) {
    for (position, task) in refresh.tasks.enumerated() {
      try insertTask.run(try Columns.values(of: task) + [refresh.id.columnValue, position.columnValue])
    }
    try refreshes.add(refresh, of: app)
  }

  /// The newest refreshes of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredRefresh] {
    var found = try refreshes.newest(limit, of: app)
    for index in found.indices { found[index].tasks = try tasks(of: found[index].id) }
    return found
  }

  /// The newest refresh of each app.
  func last() throws(StoreError) -> [AppID: StoredRefresh] {
    var found: [AppID: StoredRefresh] = [:]
    try selectLast.rows { row throws(StoreError) in
      var refresh = StoredRefresh()
      try Columns.read(&refresh, from: row, at: 1)
      refresh.tasks = try tasks(of: refresh.id)
      found[try AppID(row, 0)] = refresh
    }
    return found
  }

  private func tasks(of id: RefreshID) throws(StoreError) -> [TaskRecord] {
    var found: [TaskRecord] = []
    try selectTasks.rows(id.columnValue) { row throws(StoreError) in
      var task = TaskRecord.blank
      try Columns.read(&task, from: row, at: 0)
      found.append(task)
    }
    return found
  }
}

/// A line of the history of an app, readable after any number of boots.
protocol HistoryLine: ColumnRecord {
  /// The table of such lines, with a column `app` and an `id` in the order of time.
  static var table: String { get }
  /// Makes an empty line, which reading fills.
  init()
}

/// The rows of one kind of history lines, a few hundred for each app.
struct HistoryTable<Line: HistoryLine> {
  private let insert: Statement
  private let selectNewest: Statement
  private var bound: HistoryBound

  init(details: String? = nil, depth: Int = HistoryBound.depth, on database: Database) throws(StoreError) {
    let names = try Columns.names(of: Line())
    // An existing line stays: a refresh has one outcome, the first that was saved.
    insert = try Statement(
      """
      INSERT INTO \(Line.table) (\(names.list), app) VALUES (\(names.parameters), \(AppTable.key)) ON CONFLICT DO NOTHING
      """, on: database, to: .save)
    selectNewest = try Statement(
      "SELECT \(names.list) FROM \(Line.table) WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT ?", on: database,
      to: .read)
    bound = try HistoryBound(of: Line.table, details: details, depth: depth, on: database)
  }

  /// Adds a line of an app that has a row.
  mutating func add(_ line: Line, of app: AppID) throws(StoreError) {
    try insert.run(try Columns.values(of: line) + [.text(app.description)])
    try bound.added(app)
  }

  /// The newest lines of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [Line] {
    var found: [Line] = []
    try selectNewest.rows(.text(app.description), .integer(Int64(limit))) { row throws(StoreError) in
      var line = Line()
      try Columns.read(&line, from: row, at: 0)
      found.append(line)
    }
    return found
  }
}

/// Keeps the lines of each app in one table of the history from growing without end.
///
/// The table has a column `app` and an `id` in the order of time.
struct HistoryBound {
  /// How many lines of an app are always kept.
  ///
  /// Enough for two days of refreshes at the shortest background interval, or half a year of daily refreshes.
  static let depth = 200
  /// How many further lines are added before a cut, because each cut dirties a page that the new row does not touch.
  static let slack = 16

  /// How many openings of an app are kept: a week at seventy a day, which a rehearsal of the past reads.
  static let openings = 500

  private let oldestKept: Statement
  private let cuts: [Statement]
  private var addedSinceCut: [AppID: UInt8] = [:]

  /// Bounds `table`, and the rows of `details` that name a line's `id` in a column with the table's name.
  init(of table: String, details: String? = nil, depth: Int = depth, on database: Database) throws(StoreError) {
    let old = "app = \(AppTable.key) AND id < ?"
    oldestKept = try Statement(
      "SELECT id FROM \(table) WHERE app = \(AppTable.key) ORDER BY id DESC LIMIT 1 OFFSET \(depth - 1)",
      on: database, to: .save)
    var cuts: [Statement] = []
    if let details {
      cuts.append(
        try Statement(
          "DELETE FROM \(details) WHERE \(table) IN (SELECT id FROM \(table) WHERE \(old))", on: database, to: .save))
    }
    cuts.append(try Statement("DELETE FROM \(table) WHERE \(old)", on: database, to: .save))
    self.cuts = cuts
  }

  /// Cuts the lines of an app after a new line, if there are too many.
  mutating func added(_ app: AppID) throws(StoreError) {
    // The first line after a start cuts too. Otherwise a daemon that restarts often would never cut the lines of an app
    // that is refreshed seldom.
    let added = addedSinceCut[app] ?? UInt8(Self.slack)
    guard added >= Self.slack else {
      addedSinceCut[app] = added + 1
      return
    }
    var oldest: Int64?
    try oldestKept.rows(.text(app.description)) { row in oldest = row.integer(0) }
    if let oldest {
      for cut in cuts { try cut.run(.text(app.description), .integer(oldest)) }
    }
    addedSinceCut[app] = 1
  }
}
