import RefreshEngine

/// A table with a single row.
struct OneRow<Record: ColumnRecord> {
  private let blank: Record
  private let read: Statement
  private let write: Statement

  /// Prepares the statements for a table; a row is read into a copy of `blank`.
  init(of table: String, _ blank: Record, on database: Database) throws(StoreError) {
    self.blank = blank
    let names = try Columns.names(of: blank)
    read = try Statement("SELECT \(names.list) FROM \(table)", on: database, to: .read)
    write = try Statement(
      "INSERT OR REPLACE INTO \(table) (only, \(names.list)) VALUES (1, \(names.parameters))", on: database, to: .save)
  }

  /// The saved record; nil in a new file.
  func load() throws(StoreError) -> Record? {
    var found: Record?
    try read.rows { row throws(StoreError) in
      var record = blank
      try Columns.read(&record, from: row, at: 0)
      found = record
    }
    return found
  }

  func save(_ record: Record) throws(StoreError) { try write.run(try Columns.values(of: record)) }
}

/// The row of `clock`: the clock by which the instants of the other tables are read.
struct SavedClock: ColumnRecord {
  var clock = BootClock(bootID: "", now: .zero, wallOffset: .zero)
  /// How often the daemon has started.
  var start: UInt32 = 0
  /// The clock by which the state of another boot was restored, until it is set.
  var late: LateClock?

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("boot_id", &clock.bootID)
    try column("saved_at_us", &clock.now)
    try column("wall_offset_us", &clock.wallOffset)
    try column("start", &start)
    var (savedWall, restoredAt) = (late.map { Instant(microseconds: $0.savedWall) }, late?.restoredAt)
    try column("late_saved_wall_us", &savedWall)
    try column("late_restored_us", &restoredAt)
    if let savedWall, let restoredAt {
      late = LateClock(savedWall: savedWall.microseconds, restoredAt: restoredAt, isEarlier: true)
    }
    // The next start needs a number, too.
    guard start < .max else { throw column.unreadable("start", "\(start)") }
  }
}

/// The row of `device`: the state that all apps share.
struct SavedDevice: ColumnRecord {
  private var pause: Pause?
  private var budget: Double?
  private var learned: [UInt8] = []
  private var day: Int32?

  init(_ state: DeviceState) {
    pause = state.pause
    budget = state.learnings.budget.refreshesPerAppAndDay
    learned = state.learnings.encoded
    day = state.day.map(Int32.init(clamping:))
  }

  /// The state; drops learners in the form of another release.
  var state: DeviceState {
    var state = DeviceState(pause: pause)
    guard let profile = Profile.allCases.first(where: { $0.refreshesPerAppAndDay == budget }) else { return state }
    let learnings = DeviceHabits(encoded: learned, budget: Budget(profile: profile))
    state.learnings = learnings ?? state.learnings
    state.day = day.map(Int.init)
    return state
  }

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column.optional(&pause, blank: .untilResumed)
    try column("budget", &budget)
    try column.blob("learned", &learned)
    try column("day", &day)
  }
}

extension Pause: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    var (word, end) = parts
    try column("pause", &word)
    try column("pause_until_us", &end)
    guard column.isReading else { return }
    switch (word, end) {
    case (.untilResumed, _): self = .untilResumed
    case (.untilAC, _): self = .untilAC
    case (.until, let end?): self = .until(end)
    case (.until, nil): throw column.unreadable("pause", word.code)
    }
  }

  private enum Word: String, DiskCode {
    case untilResumed = "until-resumed"
    case untilAC = "until-ac"
    case until
  }

  private var parts: (word: Word, end: Instant?) {
    switch self {
    case .untilResumed: (.untilResumed, nil)
    case .untilAC: (.untilAC, nil)
    case .until(let end): (.until, end)
    }
  }
}
