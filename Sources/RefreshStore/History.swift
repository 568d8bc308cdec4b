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
