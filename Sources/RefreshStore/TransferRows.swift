import RefreshEngine

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
