import RefreshEngine

/// The one row of `device`: what holds for all apps.
struct DeviceTable {
  private let read: Statement
  private let write: Statement

  init(_ connection: Connection) throws(StoreError) {
    read = try Statement("SELECT pause, pause_until_us FROM device", on: connection, to: .read)
    write = try Statement(
      "INSERT OR REPLACE INTO device (only, pause, pause_until_us) VALUES (1, ?, ?)", on: connection, to: .save)
  }

  /// What was saved last; a device that nobody has touched while there is no row.
  func load() throws(StoreError) -> DeviceState {
    var state = DeviceState()
    try read.rows { row throws(StoreError) in state.pause = try row.optional(0, row.pause) }
    return state
  }

  func save(_ state: DeviceState) throws(StoreError) {
    switch state.pause {
    case nil: try write.run(.null, .null)
    case .untilResumed: try write.run(.text("until-resumed"), .null)
    case .untilAC: try write.run(.text("until-ac"), .null)
    case .until(let end): try write.run(.text("until"), .integer(end.microseconds))
    }
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
