import CSQLite
import Glibc
import RefreshEngine
import RefreshStore
import Testing
import Threads

/// A directory of a test's own, removed with all that is in it when the test lets go of it.
final class ScratchDirectory {
  let path: String

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(parent)/refresh-store-XXXXXX".utf8CString)
    path = try template.withUnsafeMutableBufferPointer { buffer in
      String(cString: try #require(buffer.baseAddress.flatMap { mkdtemp($0) }))
    }
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  /// The file of the store under test.
  var database: String { "\(path)/refreshd.db" }

  /// The names in the directory, sorted.
  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Makes a file of this content.
  func write(_ content: String, to name: String) throws {
    let file = try #require(fopen("\(path)/\(name)", "w"))
    defer { fclose(file) }
    try #require(fwrite(content, 1, content.utf8.count, file) == content.utf8.count)
  }

  /// The content of a small file.
  func read(_ name: String) throws -> String {
    let file = try #require(fopen("\(path)/\(name)", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Overwrites the first page of each of these tables and indices, as a bad disk would.
  func overwritePages(of tables: [String]) throws {
    let size = try number("PRAGMA page_size")
    let pages = try tables.map { try number("SELECT rootpage FROM sqlite_schema WHERE name = '\($0)'") }
    let file = try #require(fopen(database, "r+"))
    defer { fclose(file) }
    let garbage = [UInt8](repeating: 0xaa, count: Int(size))
    for page in pages {
      try #require(fseek(file, Int((page - 1) * size), SEEK_SET) == 0)
      try #require(fwrite(garbage, 1, garbage.count, file) == garbage.count)
    }
  }

  /// Runs SQL on the store's file as another program would.
  func sql(_ text: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(sqlite3_open(database, &handle) == SQLITE_OK)
    var message: UnsafeMutablePointer<CChar>?
    let result = sqlite3_exec(handle, text, nil, nil, &message)
    let said = message.map { String(cString: $0) } ?? ""
    sqlite3_free(message)
    try #require(result == SQLITE_OK, "\(said)")
  }

  /// The one number that a query gives.
  func number(_ query: String) throws -> Int64 {
    try #require(Int64(try text(query)))
  }

  /// The one text that a query gives.
  func text(_ query: String) throws -> String {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(sqlite3_open(database, &handle) == SQLITE_OK)
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    try #require(sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK)
    try #require(sqlite3_step(statement) == SQLITE_ROW)
    return String(cString: try #require(sqlite3_column_text(statement, 0)))
  }
}

extension BootClock {
  /// A clock of boot `a`, one hour after the boot, at 2025-06-15 00:00 UTC.
  static let morning = BootClock(
    bootID: "a", now: Instant(microseconds: 3_600_000_000), wallOffset: .seconds(1_749_945_600 - 3_600))

  /// Another boot, that began when `wall` was the wall time, `age` ago.
  static func boot(_ id: String, age: Duration, wallNow: Duration) -> BootClock {
    BootClock(bootID: id, now: Instant(microseconds: 0).advanced(by: age), wallOffset: wallNow - age)
  }

  /// Wall time of the reading, as Unix time.
  var wall: Duration { Instant(microseconds: 0).duration(to: now) + wallOffset }
}

extension RefreshStore {
  /// Opens a store of its own thread.
  static func open(_ scratch: ScratchDirectory, clock: BootClock = .morning) throws -> (RefreshStore, Loaded) {
    try open(at: scratch.database, clock: clock, executor: ThreadExecutor(name: "store-test"))
  }
}

extension Batch {
  /// A batch at the moment of `clock`.
  init(
    _ clock: BootClock, states: [AppID: AppState] = [:], device: DeviceState? = nil, learned: [AppID: AppHabits?] = [:],
    openings: [Opening] = [],
    records: [RefreshRecord] = [],
    waits: [WaitRecord] = []
  ) {
    self.init(now: clock.now, wallOffset: clock.wallOffset)
    (self.states, self.device, self.learned) = (states, device, learned)
    (changes.history.openings, changes.history.refreshes, changes.history.waits) = (openings, records, waits)
  }
}

/// The id of one of the tests' apps.
func app(_ name: String) throws -> AppID { try #require(AppID("org.example.\(name)")) }
