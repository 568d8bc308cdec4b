import RefreshEngine

/// Keeps the lines of each app in one table of the history from growing without end.
///
/// The table has a column `app` and an `id` in the order of time.
struct HistoryBound {
  /// Lines of an app that are always kept.
  ///
  /// They hold two days of refreshes at the shortest background interval, and half a year of one refresh a day.
  static let depth = 200
  /// An app's lines are cut after so many more, not at each: a cut dirties a page that the new row does not touch.
  static let slack = 16

  /// Openings of an app that are kept: a week at seventy a day, which a rehearsal of the past looks at.
  static let openings = 500

  private let oldestKept: Statement
  private let cuts: [Statement]
  private var addedSinceCut: [AppID: UInt8] = [:]

  /// Bounds `table`, and with it the rows of `details` whose column of the table's name has the `id` of a line.
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

  /// Cuts the lines of the app, to which one has just been added, if they are too many.
  mutating func added(_ app: AppID) throws(StoreError) {
    // The first of a start cuts too, or an app that is refreshed seldom and a daemon that is restarted often would
    // never meet.
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
