import CSQLite
import Glibc

/// An open SQLite file, used by one thread at a time.
final class Database {
  /// How long a statement waits for another process that holds the file.
  static let busyTimeout: Duration = .seconds(2)
  /// SQLite's page cache, far below its default of 2 MB: the states of 1,000 apps take 150 kB.
  private static let cacheKibibytes = 512
  /// The size to which a checkpoint cuts a write-ahead log after a burst.
  private static let journalBytes = 1 << 20

  let path: String
  let handle: OpaquePointer

  /// Opens or makes the file and sets write-ahead logging.
  ///
  /// A file opened as `isExclusive` keeps the index of the log in memory, instead of in 32 kB on the disk. No other program
  /// can read the file meanwhile.
  init(path: String, isExclusive: Bool) throws(StoreError) {
    var handle: OpaquePointer?
    // NOMUTEX: the actor is the mutex.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &handle, flags, nil)
    guard result == SQLITE_OK, let handle else {
      let cause = String(cString: handle == nil ? sqlite3_errstr(result) : sqlite3_errmsg(handle))
      let systemError = handle == nil ? 0 : sqlite3_system_errno(handle)
      sqlite3_close_v2(handle)
      throw StoreError(.open, path: path, sqliteCode: result, systemError: systemError, cause: cause)
    }
    self.path = path
    self.handle = handle
    guard sqlite3_db_readonly(handle, nil) == 0 else {
      throw StoreError(
        .open, path: path, sqliteCode: SQLITE_READONLY, systemError: 0, cause: "the file can only be read")
    }
    // URLs contain secrets. SQLite gives its log the mode of the file; if that cannot be changed, the directory must protect
    // them.
    for file in [path, "\(path)-wal"] { chmod(file, 0o600) }
    sqlite3_busy_timeout(handle, Int32(Self.busyTimeout / .milliseconds(1)))
    // This comes first, because the other pragmas read the file, and the first reading opens the index.
    if isExclusive { try execute("PRAGMA locking_mode = EXCLUSIVE", to: .open) }
    try execute("PRAGMA cache_size = -\(Self.cacheKibibytes)", to: .open)
    try execute("PRAGMA journal_mode = WAL", to: .open)
    try execute("PRAGMA journal_size_limit = \(Self.journalBytes)", to: .open)
    try execute("PRAGMA synchronous = NORMAL", to: .open)
  }

  deinit {
    sqlite3_close_v2(handle)
  }

  /// Runs SQL without rows.
  func execute(_ sql: String, to purpose: StoreError.Purpose) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(purpose) }
  }

  /// Runs `body` in one transaction that begins as a writer, so that it is refused before it has done anything.
  func transaction<Result>(
    to purpose: StoreError.Purpose, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try execute("BEGIN IMMEDIATE", to: purpose)
    do {
      let result = try body()
      try execute("COMMIT", to: purpose)
      return result
    } catch {
      // SQLite has rolled back by itself after some errors (lang_transaction.html); the first error says more.
      if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }

  /// Frees the page cache, except pages that a running statement uses (sqlite3_db_release_memory(3)).
  func forgetPages() {
    sqlite3_db_release_memory(handle)
  }

  /// The last error of SQLite.
  func error(_ purpose: StoreError.Purpose) -> StoreError {
    StoreError(
      purpose, path: path, sqliteCode: sqlite3_extended_errcode(handle), systemError: sqlite3_system_errno(handle),
      cause: String(cString: sqlite3_errmsg(handle)))
  }
}

/// A value of a column.
enum ColumnValue {
  case null
  case integer(Int64)
  case text(String)
  case real(Double)
  case blob([UInt8])
}

/// A statement that is compiled once and run often.
final class Statement {
  private let database: Database
  private let handle: OpaquePointer
  private let purpose: StoreError.Purpose

  init(_ sql: String, on database: Database, to purpose: StoreError.Purpose) throws(StoreError) {
    var handle: OpaquePointer?
    let result = sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard result == SQLITE_OK, let handle else { throw database.error(purpose) }
    self.database = database
    self.handle = handle
    self.purpose = purpose
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Runs it to its end with these values for its parameters, in order.
  func run(_ values: ColumnValue...) throws(StoreError) { try run(values) }

  /// Runs it to its end with these values for its parameters, in order.
  func run(_ values: [ColumnValue]) throws(StoreError) {
    try step(values) { _ throws(StoreError) in }
  }

  /// Runs it and calls `body` with each row, which is valid only there.
  func rows(_ values: ColumnValue..., body: (Row) throws(StoreError) -> Void) throws(StoreError) {
    try step(values, body)
  }

  private func step(_ values: [ColumnValue], _ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
    defer { sqlite3_reset(handle) }
    for (index, value) in values.enumerated() {
      guard bind(value, at: Int32(index + 1)) == SQLITE_OK else { throw database.error(purpose) }
    }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: try body(Row(handle: handle, path: database.path))
      case SQLITE_DONE: return
      default: throw database.error(purpose)
      }
    }
  }

  private func bind(_ value: ColumnValue, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let number): sqlite3_bind_int64(handle, index, number)
    case .real(let number): sqlite3_bind_double(handle, index, number)
    case .blob(let bytes): sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), Self.copy)
    case .text(let text): sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), Self.copy)
    }
  }

  /// `SQLITE_TRANSIENT`, a cast that the importer does not see: SQLite copies the text.
  private static let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

/// The current row of a statement.
///
/// The tables are `STRICT`, so a column has the type that the schema gives it.
struct Row {
  /// The bounds of an instant or a duration: 36,000 years from zero, so that small sums cannot overflow.
  static let sane = -(Int64(1) << 60)...(Int64(1) << 60)

  fileprivate let handle: OpaquePointer
  let path: String

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// A column with an id, whatever it contains.
  func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// A column with an id that a release can have written.
  func positive(_ column: Int32) throws(StoreError) -> UInt64 {
    guard integer(column) > 0 else { throw unreadable(column) }
    return number(column)
  }

  func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// A column with a number of bytes of a file.
  func size(_ column: Int32) throws(StoreError) -> Int64 {
    guard (0...Self.sane.upperBound).contains(integer(column)) else { throw unreadable(column) }
    return integer(column)
  }

  func blob(_ column: Int32) -> [UInt8] {
    // This comes first: sqlite3_column_bytes counts the result of sqlite3_column_blob (c3ref/column_blob.html).
    guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
  }

  func text(_ column: Int32) -> String {
    // This comes first: sqlite3_column_bytes counts the result of sqlite3_column_text (c3ref/column_blob.html).
    guard let bytes = sqlite3_column_text(handle, column) else { return "" }
    let buffer = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: buffer, as: UTF8.self)
  }

  func microseconds(_ column: Int32) throws(StoreError) -> Int64 {
    guard Self.sane.contains(integer(column)) else { throw unreadable(column) }
    return integer(column)
  }

  /// A count that may grow by one.
  func count(_ column: Int32) throws(StoreError) -> Int32 {
    let count = try Int32(self, column)
    guard (0 ..< .max).contains(count) else { throw unreadable(column) }
    return count
  }

  /// The error for a column with a value that no release wrote.
  func unreadable(_ column: Int32) -> StoreError {
    let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
    return .unreadable(column: name, text(column), path: path)
  }
}
