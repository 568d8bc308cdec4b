import RefreshEngine

/// The validator of a URL that an app fetches, with which the server sends only changed content; or the last session of a
/// replication.
public struct Validator: Hashable, Sendable {
  /// The URL that sent the content, after redirects; nil if it is not known.
  public var finalURL: String?
  /// The `ETag` of the content, as the server wrote it; or the session of the replication that was counted last.
  public var etag: String?
  /// The `Last-Modified` of the content, as the server wrote it.
  public var lastModified: String?
  /// The SHA-256 of the content, 64 hexadecimal digits.
  public var digest: String?

  /// Makes a validator from its parts.
  public init(
    finalURL: String? = nil, etag: String? = nil, lastModified: String? = nil, digest: String? = nil
  ) {
    self.finalURL = finalURL
    self.etag = etag
    self.lastModified = lastModified
    self.digest = digest
  }
}

/// The rows of `validator`: one for each URL that an app has fetched.
struct ValidatorTable {
  private struct Saved: ColumnRecord {
    var url = ""
    var validator = Validator()

    mutating func visit(_ column: inout Columns) throws(StoreError) {
      try column("url", &url)
      try column("etag", &validator.etag)
      try column("last_modified", &validator.lastModified)
      try column("digest", &validator.digest)
      try column("final_url", &validator.finalURL)
    }
  }

  private let saved: AppRows<Saved>
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    saved = try AppRows(of: "validator", Saved(), on: database)
    remove = try Statement("DELETE FROM validator WHERE app = \(AppTable.key) AND url = ?", on: database, to: .save)
  }

  /// The saved validators, by app and URL.
  func load() throws(StoreError) -> [AppID: [String: Validator]] {
    var validators: [AppID: [String: Validator]] = [:]
    try saved.rows { row throws(StoreError) in
      let (app, saved) = try saved.read(row)
      validators[app, default: [:]][saved.url] = saved.validator
    }
    return validators
  }

  /// Saves the validator of a URL for an app that has a row; nil deletes it.
  func save(_ validator: Validator?, of app: AppID, _ url: String) throws(StoreError) {
    guard let validator else { return try remove.run(.text(app.description), .text(url)) }
    try saved.save(Saved(url: url, validator: validator), of: app)
  }
}
