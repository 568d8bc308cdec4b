import RefreshAPI
import RefreshEngine
import RefreshStore

/// The requests and the progress of transfers, which the engine does not know.
struct KnownTransfers {
  struct Known {
    let session: TransferSession
    /// The server, without a port.
    let server: String
    let request: TransferRequest
    /// The progress that is saved, or will be.
    var progress: TransferProgress
    /// The progress of this attempt, saved or not.
    var attempt: AttemptProgress
    /// The bytes that were moved when the worker began this attempt.
    var bytesBefore: Int64
    /// Whether this attempt was reported to move bytes.
    var isBeginReported = false
    /// The speed; nil while nothing is transferred.
    var speed: Speed?
    var isEndReported: Bool
    /// When the engine last got the bytes, boot clock.
    var toldAt: Instant?

    init(_ stored: StoredTransfer) {
      (session, server) = (stored.state.policy.session, stored.state.policy.server)
      request = stored.request
      progress = stored.progress
      (attempt, bytesBefore) = (AttemptProgress(bytes: stored.progress.bytes), stored.progress.bytes)
      isEndReported = if case .ended = stored.state.stage { true } else { false }
    }

    var shownURL: String { ShownURL.of(request.url) }

    /// The moved bytes of the file, saved or not.
    var bytes: Int64 { attempt.bytes }

    /// Whether this is a POST that may have arrived, so that it must not be sent again.
    var mayHaveArrived: Bool { request.isPost && progress.resume?.url != nil }

    /// Whether the progress must survive a loss of power: a POST may have arrived, an upload resumes at a position, or
    /// bytes are on the disk.
    ///
    /// A download that has just begun would only begin again, which is not worth a wait for the disk.
    var mustLast: Bool { request.direction == .upload || progress.resume?.durable ?? 0 > 0 }

    mutating func note(_ report: Wire.TransferReport, at now: Instant) {
      if let total = report.total { progress.total = total }
      if let bytes = report.bytes ?? report.resume?.durable { attempt.bytes = bytes }
      if speed == nil { speed = Speed(bytes: bytes, at: now) }
      speed?.note(attempt.bytes, at: now)
      switch report.kind {
      case .progress, .fetched: return
      case .began:
        progress.resume = report.resume.map(ResumeData.init) ?? progress.resume
      case .ended:
        speed = nil
        progress.message = report.message.map { OutputLines.message(of: $0) }
        progress.sha256 = report.sha256
        if report.end == .done {
          progress.total = progress.total ?? bytes
          progress.resume = nil
        }
      }
      progress.bytes = bytes
    }
  }

  private var all: [TransferID: Known] = [:]
  /// The transfers of each app, so that a search for them reads no others.
  private(set) var shares: [AppID: TransferShare] = [:]
  /// The desktop notices of sessions that have not ended.
  private var notices: [TransferSession: TransferSessionNotice] = [:]
  private var last: UInt64

  /// Begins with the stored transfers, and the greatest number that a transfer ever had.
  init(_ stored: [TransferID: StoredTransfer], last: UInt64) {
    self.last = last
    let inOrder = stored.sorted { $0.key < $1.key }
    for (id, transfer) in inOrder { self[id] = Known(transfer) }
    for (_, transfer) in inOrder where !transfer.state.isDelivered {
      noteWords(of: transfer)
      if case .ended(let result, _) = transfer.state.stage { noteEnd(in: transfer.state.policy.session, result) }
    }
    // The earlier daemon has shown the notices of ended sessions.
    let open = Set(all.values.lazy.filter { !$0.isEndReported }.map(\.session))
    notices = notices.filter { open.contains($0.key) }
  }

  /// Adds a transfer.
  mutating func add(_ id: TransferID, _ stored: StoredTransfer) { self[id] = Known(stored) }

  /// Takes the notice of an ended session, once; nil if the app gave no text or all transfers were cancelled.
  mutating func takeWords(of session: TransferSession) -> String? { notices.removeValue(forKey: session)?.text }

  /// Counts the end of a transfer in its session.
  mutating func noteEnd(in session: TransferSession, _ result: TransferResult) {
    notices[session, default: TransferSessionNotice()].note(result)
  }

  /// Notes the text in a stored transfer for the end of its session.
  mutating func noteWords(of transfer: StoredTransfer) {
    if let words = transfer.request.notice {
      notices[transfer.state.policy.session, default: TransferSessionNotice()].words = words
    }
  }

  subscript(id: TransferID) -> Known? {
    get { all[id] }
    set {
      let before = all.updateOptional(newValue, of: id)
      if let before, newValue == nil { shares[before.session.app]?.remove(id, before) }
      if let before, shares[before.session.app]?.ids.isEmpty == true { shares[before.session.app] = nil }
      if before == nil, let newValue { shares[newValue.session.app, default: TransferShare()].add(id, newValue) }
    }
  }

  var count: Int { all.count }

  /// The bytes of all requests.
  var bytes: Int { shares.values.reduce(0) { $0 + $1.bytes } }

  /// The ids of all transfers, in no order.
  var ids: some Sequence<TransferID> { all.keys }

  /// The next number, greater than any before.
  mutating func makeID() -> TransferID {
    last += 1
    return TransferID(last)
  }
}

extension Dictionary {
  /// Sets or removes a value, and returns the value before.
  fileprivate mutating func updateOptional(_ value: Value?, of key: Key) -> Value? {
    if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
  }
}
