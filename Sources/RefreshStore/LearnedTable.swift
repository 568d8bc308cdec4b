import RefreshEngine

/// The rows of `learned`: what was learnt of each app.
struct LearnedTable {
  private let all: Statement
  private let write: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    all = try Statement(
      "SELECT id, data FROM learned JOIN app ON app.key = learned.app", on: database, to: .read)
    write = try Statement(
      "INSERT OR REPLACE INTO learned (app, data) VALUES (\(AppTable.key), ?)", on: database, to: .save)
    remove = try Statement("DELETE FROM learned WHERE app = \(AppTable.key)", on: database, to: .save)
  }

  /// The learners that were saved last; learners in the form of another release are dropped.
  func load() throws(StoreError) -> [AppID: Learned] {
    var learned: [AppID: Learned] = [:]
    try all.rows { row throws(StoreError) in
      guard let id = AppID(row.text(0)) else { throw row.unreadable(0) }
      learned[id] = Learned(encoded: row.blob(1))
    }
    return learned
  }

  /// Saves what was learnt of an app that has a row; nil if it is forgotten.
  func save(_ learned: Learned?, of app: AppID) throws(StoreError) {
    if let learned {
      try write.run(.text(app.description), .blob(learned.encoded))
    } else {
      try remove.run(.text(app.description))
    }
  }
}
