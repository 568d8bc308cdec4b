import RefreshEngine

/// The request of a transfer, which never changes.
///
/// The URL may contain a password or a token. It is in the store, which only its owner can read, and is shown nowhere.
public struct TransferRequest: Hashable, Sendable {
  /// The direction of a transfer.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    /// From the URL to the path.
    case download
    /// From the path to the URL.
    case upload
  }

  /// The direction.
  public var direction: Direction
  /// The whole URL, with its secrets.
  public var url: String
  /// The file on this machine, an absolute path.
  public var path: String
  /// A description, in the caller's words.
  public var description: String?
  /// The expected SHA-256 of the file, 64 hexadecimal digits in lower case.
  public var sha256: String?
  /// The expected length of the file, in bytes.
  public var length: Int64?
  /// The bound of its speed, in bytes a second; nil for none.
  public var maxRate: Int64?
  /// Whether an upload uses POST and not PUT.
  public var isPost = false
  /// Whether an upload uses tus.
  public var isTus = false
  /// The file with further headers.
  public var headersFile: String?
  /// The file with user and password.
  public var credentialFile: String?
  /// Whether user and password come from the owner's `.netrc`.
  public var usesNetrc = false
  /// The text of the desktop notification when the last transfer of the session has ended.
  public var notice: String?
  /// The user id of the app's owner at the request; nil if it is not known.
  public var owner: UInt32?
  /// The id of the Flatpak that requested it, which may use only its own files; nil if no Flatpak requested it.
  public var flatpak: String?

  /// Makes a plain request.
  public init(_ direction: Direction, url: String, path: String) {
    self.direction = direction
    self.url = url
    self.path = path
  }
}

/// The data to resume a transfer, as its worker reports it.
public struct ResumeData: Hashable, Sendable {
  /// The URL after redirects.
  public var url: String?
  /// The validator of the file on the server, with its quotes.
  public var etag: String?
  /// The date of the file on the server, as the server wrote it.
  public var lastModified: String?
  /// The `Date` of that answer, as the server wrote it.
  public var date: String?
  /// The length of the file, in bytes.
  public var total: Int64?
  /// How many of its bytes would survive a loss of power.
  public var durable: Int64
  /// The kernel's id of the boot in which they were written.
  public var boot: String
  /// The URL at which an upload by tus goes on.
  public var tusURL: String?
  /// The identity of the partial file.
  public var partMark: Int64?

  /// Makes the data of a file with a number of durable bytes.
  public init(durable: Int64, boot: String) {
    self.durable = durable
    self.boot = boot
  }
}

/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
  /// How many times a worker was given it.
  public var attempts: Int64 = 0
  /// The last error, in one line; nil without any.
  public var message: String?
  /// How many bytes of the file are moved, as far as saved.
  public var bytes: Int64 = 0
  /// The length of the file in bytes, once it is known.
  public var total: Int64?
  /// The SHA-256 of the file, if it was checked.
  public var sha256: String?
  /// The data to resume; nil if no byte was moved.
  public var resume: ResumeData?

  /// The progress of a transfer that has not begun.
  public init() {}
}

/// A transfer in the store.
public struct StoredTransfer: Hashable, Sendable {
  /// The engine's state, on this boot's clock.
  public var state: TransferState
  /// The request.
  public var request: TransferRequest
  /// The progress.
  public var progress: TransferProgress

  /// Makes a transfer from its parts.
  public init(state: TransferState, request: TransferRequest, progress: TransferProgress = TransferProgress()) {
    self.state = state
    self.request = request
    self.progress = progress
  }

  /// The transfer with its instants changed, as after a reboot.
  func moved(_ change: (Instant) -> Instant) -> StoredTransfer {
    StoredTransfer(state: state.moved(change), request: request, progress: progress)
  }
}

/// The rows of `transfer`: one `StoredTransfer` each.
struct TransferTable {
  private let saved: AppRows<SavedTransfer>
  private let writeState: Statement
  private let writeProgress: Statement
  private let remove: Statement

  init(_ database: Database) throws(StoreError) {
    func update(_ record: some ColumnRecord) throws(StoreError) -> Statement {
      let names = try Columns.names(of: record)
      return try Statement("UPDATE transfer SET \(names.assigned) WHERE id = ?", on: database, to: .save)
    }
    saved = try AppRows(of: "transfer", SavedTransfer(), order: "id", on: database)
    writeState = try update(DecidedTransfer())
    writeProgress = try update(TransferProgress())
    remove = try Statement("DELETE FROM transfer WHERE id = ?", on: database, to: .save)
  }

  /// All transfers, and the rows that no release writes, each with its error.
  ///
  /// Such a row does not make the whole file damaged, because its content came from a server.
  func load() throws(StoreError) -> (read: [TransferID: StoredTransfer], unreadable: [TransferID: StoreError]) {
    var transfers: [TransferID: StoredTransfer] = [:]
    var unreadable: [TransferID: StoreError] = [:]
    try saved.rows { row throws(StoreError) in
      do throws(StoreError) {
        let (app, saved) = try saved.read(row)
        transfers[saved.id] = saved.transfer(of: app)
      } catch {
        unreadable[TransferID(row.number(1))] = error
      }
    }
    return (transfers, unreadable)
  }

  /// The highest number of any transfer, forgotten transfers included; 0 if there was none.
  func last() throws(StoreError) -> UInt64 { try saved.last() }

  /// Saves a transfer of an app that has a row.
  func save(_ transfer: StoredTransfer, _ id: TransferID) throws(StoreError) {
    try saved.save(SavedTransfer(id, transfer), of: transfer.state.policy.app)
  }

  /// Saves the engine's state of a transfer that has a row.
  func save(_ state: TransferState, of id: TransferID) throws(StoreError) {
    try writeState.run(try Columns.values(of: DecidedTransfer(state)) + [id.columnValue])
  }

  /// Saves the progress of a transfer that has a row.
  func save(_ progress: TransferProgress, of id: TransferID) throws(StoreError) {
    try writeProgress.run(try Columns.values(of: progress) + [id.columnValue])
  }

  /// Forgets a transfer.
  func remove(_ id: TransferID) throws(StoreError) { try remove.run([id.columnValue]) }
}

/// The row of a transfer.
struct SavedTransfer: ColumnRecord {
  private(set) var id = TransferID(0)
  // The columns that never change.
  private var session = ""
  private var host = ""
  private var network = NetworkConstraint.unmetered
  private var request = TransferRequest(.download, url: "", path: "")
  // The columns that may change alone.
  private var decided = DecidedTransfer()
  private var progress = TransferProgress()

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("id", &id)
    try column("session", &session)
    try column("host", &host)
    try column("network", &network)
    try request.visit(&column)
    try decided.visit(&column)
    try progress.visit(&column)
  }
}

extension SavedTransfer {
  init(_ id: TransferID, _ transfer: StoredTransfer) {
    self.id = id
    let policy = transfer.state.policy
    (session, host, network) = (policy.session.name, policy.host, policy.network)
    (request, decided, progress) = (transfer.request, DecidedTransfer(transfer.state), transfer.progress)
  }

  func transfer(of app: AppID) -> StoredTransfer {
    let policy = TransferPolicy(
      session: TransferSession(app: app, name: session), host: host, network: network, priority: decided.priority,
      enqueuedAt: decided.enqueuedAt)
    var state = TransferState(policy: policy, stage: decided.stage)
    state.hasBegun = decided.hasBegun
    state.failures = decided.failures
    state.isDelivered = decided.isDelivered
    return StoredTransfer(state: state, request: request, progress: progress)
  }
}

/// The columns of a transfer that the engine decides.
struct DecidedTransfer: ColumnRecord {
  var priority: Int32 = 0
  /// It changes only when a late clock is set.
  var enqueuedAt = Instant.zero
  var stage = TransferState.Stage.paused
  var hasBegun = false
  var failures: Int32 = 0
  var isDelivered = false

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("priority", &priority)
    try column("enqueued_us", &enqueuedAt)
    try stage.visit(&column)
    try column("has_begun", &hasBegun)
    try column.count("failures", &failures)
    try column("is_delivered", &isDelivered)
  }
}

extension DecidedTransfer {
  init(_ state: TransferState) {
    (priority, enqueuedAt) = (state.policy.priority, state.policy.enqueuedAt)
    stage = state.stage
    hasBegun = state.hasBegun
    failures = state.failures
    isDelivered = state.isDelivered
  }
}

extension TransferRequest: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("direction", &direction)
    try column("url", &url)
    try column("path", &path)
    try column("description", &description)
    try column("sha256", &sha256)
    try column.size("length", &length)
    try column.size("max_rate", &maxRate)
    try column("is_post", &isPost)
    try column("is_tus", &isTus)
    try column("headers_file", &headersFile)
    try column("credential_file", &credentialFile)
    try column("uses_netrc", &usesNetrc)
    try column("notice", &notice)
    try column("owner", &owner)
    try column("flatpak", &flatpak)
  }
}

extension TransferState.Stage: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    var (word, reason, at, needed) = parts
    try column("stage", &word)
    try column("stage_word", &reason)
    try column("stage_us", &at)
    try column.size("needed", &needed)
    guard column.isReading else { return }
    switch word {
    case .waiting: self = .waiting(from: at ?? .zero)
    case .transferring: self = .transferring
    case .stopping: self = .stopping(try column.code("stage_word", reason ?? ""))
    case .paused: self = .paused
    case .noSpace: self = .noSpace(needed: needed ?? 0)
    case .ended: self = .ended(try column.code("stage_word", reason ?? ""), at: at ?? .zero)
    }
  }

  private enum Word: String, DiskCode {
    case waiting, transferring, stopping, paused
    case noSpace = "no-space"
    case ended
  }

  private var parts: (word: Word, reason: String?, at: Instant?, needed: Int64?) {
    switch self {
    case .waiting(let from): (.waiting, nil, from, nil)
    case .transferring: (.transferring, nil, nil, nil)
    case .stopping(let reason): (.stopping, reason.code, nil, nil)
    case .paused: (.paused, nil, nil, nil)
    case .noSpace(let needed): (.noSpace, nil, nil, needed)
    case .ended(let result, let at): (.ended, result.code, at, nil)
    }
  }
}

extension TransferProgress: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column.size("attempts", &attempts)
    try column("message", &message)
    try column.size("bytes", &bytes)
    try column.size("total", &total)
    try column("checked_sha256", &sha256)
    try column.optional(&resume, blank: ResumeData(durable: 0, boot: ""))
  }
}

extension ResumeData: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    // This comes first: it is null if there is nothing to resume.
    try column("resume_boot", &boot)
    try column("resume_url", &url)
    try column("resume_etag", &etag)
    try column("resume_last_modified", &lastModified)
    try column("resume_date", &date)
    try column.size("resume_total", &total)
    try column.size("durable", &durable)
    try column("tus_url", &tusURL)
    try column("part_mark", &partMark)
  }
}
