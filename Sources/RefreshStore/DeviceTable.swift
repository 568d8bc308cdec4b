import RefreshEngine

/// The one row of `device`: what holds for all apps.
struct DeviceTable {
  private let read: Statement
  private let write: Statement

  init(_ database: Database) throws(StoreError) {
    read = try Statement("SELECT pause, pause_until_us, budget, learned, day FROM device", on: database, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO device (only, pause, pause_until_us, budget, learned, day) VALUES (1, ?, ?, ?, ?, ?)
      """, on: database, to: .save)
  }

  /// The state that was saved last; the default state while there is no row.
  ///
  /// Learners in the form of another release are dropped and learn anew.
  func load() throws(StoreError) -> DeviceState {
    var state = DeviceState()
    try read.rows { row throws(StoreError) in
      state.pause = try row.optional(0, row.pause)
      guard !row.isNull(2), row.real(2) > 0, row.real(2).isFinite else { return }
      let budget = Budget(refreshesPerAppAndDay: row.real(2))
      state.learnings = Learnings(encoded: row.blob(3), budget: budget) ?? state.learnings
      state.day = try row.optional(4) { column throws(StoreError) in Int(try row.exactly(column) as Int32) }
    }
    return state
  }

  func save(_ state: DeviceState) throws(StoreError) {
    let pause: (word: Value, until: Value) =
      switch state.pause {
      case nil: (.null, .null)
      case .untilResumed: (.text("until-resumed"), .null)
      case .untilAC: (.text("until-ac"), .null)
      case .until(let end): (.text("until"), .integer(end.microseconds))
      }
    try write.run(
      pause.word, pause.until, .real(state.learnings.budget.refreshesPerAppAndDay), .blob(state.learnings.encoded),
      Value(state.day.map(Int64.init)))
  }
}

extension Row {
  /// The pause whose word is in the column, and whose end, if it has one, is in the next.
  fileprivate func pause(_ column: Int32) throws(StoreError) -> Pause {
    switch text(column) {
    case "until-resumed": return .untilResumed
    case "until-ac": return .untilAC
    case "until":
      guard let end = try optional(column + 1, instant) else { throw unreadable(column + 1) }
      return .until(end)
    default: throw unreadable(column)
    }
  }
}
