import RefreshEngine

/// The one row of `clock`: the clock by which the instants of `app` are read, and the daemon's start counter.
struct ClockTable {
  private let read: Statement
  private let write: Statement

  init(_ database: Database) throws(StoreError) {
    read = try Statement(
      "SELECT boot_id, saved_at_us, wall_offset_us, start FROM clock", on: database, to: .read)
    write = try Statement(
      "INSERT OR REPLACE INTO clock (only, boot_id, saved_at_us, wall_offset_us, start) VALUES (1, ?, ?, ?, ?)",
      on: database, to: .save)
  }

  /// The clock at the last save and the start that saved; nothing in a file that is new.
  func load() throws(StoreError) -> (clock: BootClock, start: UInt32)? {
    var found: (BootClock, UInt32)?
    try read.rows { row throws(StoreError) in
      let clock = BootClock(
        bootID: row.text(0), now: try row.instant(1), wallOffset: .microseconds(try row.microseconds(2)))
      let start: UInt32 = try row.exactly(3)
      // There is a next one.
      guard start < .max else { throw row.unreadable(3) }
      found = (clock, start)
    }
    return found
  }

  func save(_ clock: BootClock, start: UInt32) throws(StoreError) {
    try write.run(
      .text(clock.bootID), .integer(clock.now.microseconds), .integer(clock.wallOffset.inMicroseconds),
      .integer(Int64(start)))
  }
}
