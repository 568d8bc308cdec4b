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
    // URLs have secrets. SQLite gives its log the mode of the file; if that cannot be changed, the directory must protect
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
      // SQLite has rolled back by itself after some errors (lang_transaction.html); the first error tells more.
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
