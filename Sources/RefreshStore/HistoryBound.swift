import RefreshEngine

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
