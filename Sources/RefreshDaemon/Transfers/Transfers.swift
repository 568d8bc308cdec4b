import RefreshConfig
import RefreshEngine
import RefreshStore

/// What is known of transfers beside what the engine knows of them.
struct Transfers {
  /// One of them.
  struct Known {
    let session: TransferSession
    let request: TransferRequest
    /// As it is saved, or is to be.
    var progress: TransferProgress
    /// How many bytes of the file are moved, also those that are not saved.
    var bytes: Int64
    /// How many there were when its worker began with it this time.
    var bytesBefore: Int64
    /// The most there ever were before this try.
    var mostBefore: Int64
    /// Whether it was told that this try moves bytes.
    var isBegunTold = false
    /// How fast it is; nil while it is not transferring.
    var speed: Speed?
    /// Whether its end was told.
    var isEndTold: Bool

    init(_ stored: StoredTransfer) {
      session = stored.state.policy.session
      request = stored.request
      progress = stored.progress
      (bytes, bytesBefore, mostBefore) = (stored.progress.bytes, stored.progress.bytes, stored.progress.bytes)
      isEndTold = if case .ended = stored.state.stage { true } else { false }
    }

    /// The URL as it may be shown.
    var shownURL: String { ShownURL.of(request.url) }

    /// Whether this try has brought it on by an amount that is worth having.
    ///
    /// Coming again to where an earlier try had come is no progress: a server that lets each begin anew and breaks off at
    /// the same place would be asked without end or pause.
    var hasProgressed: Bool { bytes - mostBefore >= Self.worthHaving }

    private static let worthHaving: Int64 = 64 * 1024

    /// Whether it is a POST of which all may have been sent, so that it must not be sent again.
    var mayHaveArrived: Bool { request.isPost && progress.resume?.url != nil }

    /// Whether a loss of power must not take what is to be saved: that a POST may have arrived, where an upload goes on,
    /// or that bytes are on the disk.
    ///
    /// A download that has just begun would only begin again, which is not worth waiting for a disk.
    var mustLast: Bool { request.direction == .upload || progress.resume?.durable ?? 0 > 0 }
  }

  /// How fast a transfer is, as a person reads it: what it does on average over a few seconds.
  struct Speed {
    private var bytes: Int64
    private var at: Instant
    /// Bytes in a second; nil until it is known.
    private(set) var rate: Int64?

    /// Begins to measure at so many bytes.
    init(bytes: Int64, at now: Instant) { (self.bytes, at) = (bytes, now) }

    /// Takes note that it has come to so many bytes.
    mutating func note(_ bytes: Int64, at now: Instant) {
      let elapsed = at.duration(to: now).inMicroseconds
      guard elapsed >= 200_000 else { return }
      let latest = Int64(exactly: (Double(max(0, bytes - self.bytes)) / Double(elapsed) * 1e6).rounded())
      guard let latest else { return }
      rate = rate.map { $0 / 2 + latest / 2 } ?? latest
      (self.bytes, at) = (bytes, now)
    }
  }

  private(set) var all: [TransferID: Known]
  /// What the owner's desktop is told when a session has ended, of sessions that have not.
  private var notices: [TransferSession: SessionNotice] = [:]
  private var last: UInt64
  /// Whether any has not ended.
  var hasOpen = false

  /// Takes up what was saved, and the greatest number that any ever had.
  init(_ stored: [TransferID: StoredTransfer], last: UInt64) {
    all = stored.mapValues(Known.init)
    self.last = last
    for (_, transfer) in stored.sorted(by: { $0.key < $1.key }) where !transfer.state.isDelivered {
      noteWords(of: transfer)
      if case .ended(let result, _) = transfer.state.stage { noteEnd(in: transfer.state.policy.session, result) }
    }
    // Of a session that had ended the daemon before this one has told.
    let open = Set(all.values.lazy.filter { !$0.isEndTold }.map(\.session))
    notices = notices.filter { open.contains($0.key) }
  }

  /// Takes up one more that was saved.
  mutating func add(_ id: TransferID, _ stored: StoredTransfer) {
    all[id] = Known(stored)
    noteWords(of: stored)
  }

  /// What is to be told of a session that has ended, once; nil where nobody gave words or all was cancelled.
  mutating func takeWords(of session: TransferSession) -> String? { notices.removeValue(forKey: session)?.text }

  /// Takes note of how a transfer of a session has ended.
  mutating func noteEnd(in session: TransferSession, _ result: TransferResult) {
    notices[session, default: SessionNotice()].note(result)
  }

  private mutating func noteWords(of transfer: StoredTransfer) {
    if let words = transfer.request.notice {
      notices[transfer.state.policy.session, default: SessionNotice()].words = words
    }
  }

  subscript(id: TransferID) -> Known? {
    get { all[id] }
    set { all[id] = newValue }
  }

  /// The number of one more, greater than any before.
  mutating func makeID() -> TransferID {
    last += 1
    return TransferID(last)
  }
}

/// A URL without its secrets.
enum ShownURL {
  /// What of a URL anybody may see: not user, password and query.
  static func of(_ url: String) -> String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}
