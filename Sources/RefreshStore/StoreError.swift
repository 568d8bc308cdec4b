import CSQLite
import Glibc

/// An error of the store: a code to act on, a sentence to read, and the file.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors, by the daemon's remedy.
  public enum Code: Hashable, Sendable, CaseIterable {
    /// The file system or a quota is full.
    ///
    /// The batch is kept, and saved with the next save that finds room.
    case full
    /// Another process held the file for longer than the store waits.
    ///
    /// The batch is kept, as for `full`.
    case busy
    /// The file is damaged.
    ///
    /// It was set aside, and a new file begun: save every state again.
    case corrupt
    /// A build before the first release wrote the file.
    ///
    /// It was set aside, and a new file begun, as for `corrupt`.
    case unreleased
    /// The file or its directory cannot be written.
    case readOnly
    /// The disk has not answered in time, and may still answer.
    ///
    /// Until then it is unknown whether the disk has the batch.
    case unanswered
    /// A newer refreshd wrote the file; it stays as it is.
    case newerSchema
    /// Anything else; the sentence and the SQLite code say more.
    case other
  }

  /// The operation that failed.
  public enum Purpose: String, Hashable, Sendable {
    /// Opening or making the file.
    case open
    /// Reading from it.
    case read
    /// Saving a batch.
    case save = "save to"
    /// Migrating the tables to the newest schema.
    case upgrade
  }

  /// The kind of the error.
  public let code: Code
  /// The database file.
  public let path: String
  /// SQLite's extended result code (`sqlite.org/rescode.html`); nil if the error is not SQLite's.
  public let sqliteCode: Int32?
  /// The error, the file and the remedy, in one sentence.
  public let description: String

  /// Makes an error of SQLite, with its words in `cause` and its last errno in `systemError`.
  init(_ purpose: Purpose, path: String, sqliteCode: Int32, systemError: Int32, cause: String) {
    // SQLite notes an errno for these two codes only (c3ref/system_errno.html); for others it is a leftover.
    let systemError = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(sqliteCode & 0xff) ? systemError : 0
    self.path = path
    self.sqliteCode = sqliteCode
    code = Self.code(sqliteCode, systemError: systemError)
    let system = systemError == 0 ? "" : ", \(String(cString: strerror(systemError)))"
    description =
      "cannot \(purpose.rawValue) \(path): \(cause)\(system) (SQLite \(sqliteCode)); "
      + Self.remedy(code, sqliteCode: sqliteCode)
  }

  private init(code: Code, path: String, sqliteCode: Int32? = nil, description: String) {
    self.code = code
    self.path = path
    self.sqliteCode = sqliteCode
    self.description = description
  }

  /// The error for a column with content that no release ever wrote.
  static func unreadable(column: String, _ content: String, path: String) -> StoreError {
    let remedy = remedy(.corrupt, sqliteCode: SQLITE_CORRUPT)
    return StoreError(
      code: .corrupt, path: path,
      description: "cannot read \(path): its column \(column) holds “\(content)”; \(remedy)")
  }

  /// The error of a store that has not answered for a time.
  public static func unanswered(_ purpose: Purpose, path: String, after bound: Duration) -> StoreError {
    StoreError(
      code: .unanswered, path: path,
      description: "cannot \(purpose.rawValue) \(path): the disk has not answered for \(bound.components.seconds) s; "
        + remedy(.unanswered, sqliteCode: 0))
  }

  /// The error of a file of a build before the first release.
  static func unreleased(_ found: Int64, path: String) -> StoreError {
    StoreError(
      code: .unreleased, path: path,
      description: "cannot use \(path): a build before the first release wrote it (schema \(found), the first release "
        + "began with \(Schema.first)); \(remedy(.unreleased, sqliteCode: 0))")
  }

  /// The error of a file of a later release.
  static func newerSchema(_ found: Int64, known: Int, path: String) -> StoreError {
    StoreError(
      code: .newerSchema, path: path,
      description: "cannot use \(path): a newer refreshd wrote it (schema \(found), this one knows \(known)); "
        + remedy(.newerSchema, sqliteCode: 0))
  }

  /// The word in the new name of a file that must make room for a new file; nil for errors that leave the file there.
  var asideWord: String? {
    switch code {
    case .corrupt: "corrupt"
    case .unreleased: "unreleased"
    case .full, .busy, .readOnly, .unanswered, .newerSchema, .other: nil
    }
  }

  /// Whether the file was set aside: everything must be saved again.
  public var isSetAside: Bool { asideWord != nil }

  /// The error of this file after it was renamed to `aside`.
  func setAside(as aside: String) -> StoreError {
    StoreError(
      code: code, path: path, sqliteCode: sqliteCode,
      description: "\(description); it is now \(aside), and refreshd starts with a new file")
  }

  /// The error of a file that cannot be renamed.
  static func cannotSetAside(_ path: String, as aside: String, systemError: Int32) -> StoreError {
    StoreError(
      code: .other, path: path,
      description: "cannot rename \(path) to \(aside): \(String(cString: strerror(systemError))); "
        + "move it away by hand")
  }

  private static func code(_ sqliteCode: Int32, systemError: Int32) -> Code {
    switch systemError {
    case ENOSPC, EDQUOT: return .full
    case EROFS, EACCES, EPERM: return .readOnly
    default: break
    }
    // The low byte is the primary result code.
    switch sqliteCode & 0xff {
    case SQLITE_FULL: return .full
    case SQLITE_BUSY, SQLITE_LOCKED: return .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt
    case SQLITE_READONLY, SQLITE_PERM: return .readOnly
    default: return .other
    }
  }

  private static func remedy(_ code: Code, sqliteCode: Int32) -> String {
    switch code {
    case .full: "free some space there: refreshd works in memory and writes when there is space"
    case .busy: "another program is writing to it: end that program"
    case .corrupt: "sqlite3's .recover may be able to read it"
    case .readOnly: "let refreshd's user write the file and its directory"
    case .unreleased: "every app is refreshed as if it were new"
    case .unanswered: "check the disk and the kernel's log"
    case .newerSchema: "install that version again, or move the file away to start with an empty one"
    case .other where sqliteCode & 0xff == SQLITE_CANTOPEN:
      "create its directory, and let refreshd's user write there"
    case .other: "check the disk and the kernel's log"
    }
  }
}
