import RefreshEngine

/// The validator of a URL that an app fetches, to ask the server for news only.
public struct Validator: Hashable, Sendable {
  /// The `ETag` of the content, as the server wrote it.
  public var etag: String?
  /// The `Last-Modified` of the content, as the server wrote it.
  public var lastModified: String?
  /// The SHA-256 of the content, 64 hexadecimal digits.
  public var digest: String?

  /// Makes it of its parts.
  public init(etag: String? = nil, lastModified: String? = nil, digest: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
    self.digest = digest
  }
}

/// The rows of `validator`: one for each URL that an app has fetched.
struct ValidatorTable {
  private let all: Statement
  private let write: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    all = try Statement(
      "SELECT id, url, etag, last_modified, digest FROM validator JOIN app ON app.key = validator.app",
      on: database, to: .read)
    write = try Statement(
      """
      INSERT OR REPLACE INTO validator (app, url, etag, last_modified, digest) VALUES (\(AppTable.key), ?, ?, ?, ?)
      """, on: database, to: .save)
    remove = try Statement("DELETE FROM validator WHERE app = \(AppTable.key) AND url = ?", on: database, to: .save)
  }

  /// The validators that were saved last, by app and URL.
  func load() throws(StoreError) -> [AppID: [String: Validator]] {
    var validators: [AppID: [String: Validator]] = [:]
    try all.rows { row throws(StoreError) in
      guard let id = AppID(row.text(0)) else { throw row.unreadable(0) }
      validators[id, default: [:]][row.text(1)] = Validator(
        etag: row.optionalText(2), lastModified: row.optionalText(3), digest: row.optionalText(4))
    }
    return validators
  }

  /// Saves what an app that has a row remembers of a URL; nil if it is forgotten.
  func save(_ validator: Validator?, of app: AppID, _ url: String) throws(StoreError) {
    guard let validator else { return try remove.run(.text(app.description), .text(url)) }
    try write.run(
      .text(app.description), .text(url), Value(validator.etag), Value(validator.lastModified), Value(validator.digest))
  }
}
