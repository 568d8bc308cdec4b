import RefreshAPI
import RefreshConfig
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

  /// Remembers the text in a stored transfer for the end of its session.
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

/// The share of the queue that an app has, or a user with all apps.
struct TransferShare {
  private(set) var ids: Set<TransferID> = []
  private(set) var bytes = 0
  private(set) var servers: [String: Int] = [:]
  /// The owner of the app when it last added to the queue; nil if the store has transfers without an owner.
  private(set) var owner: UInt32?

  mutating func add(_ id: TransferID, _ known: KnownTransfers.Known) {
    ids.insert(id)
    owner = known.request.owner ?? owner
    bytes += known.request.bytes
    servers[known.server, default: 0] += 1
  }

  mutating func remove(_ id: TransferID, _ known: KnownTransfers.Known) {
    ids.remove(id)
    bytes -= known.request.bytes
    let rest = (servers[known.server] ?? 1) - 1
    servers[known.server] = rest == 0 ? nil : rest
  }
}

/// The bounds of the queue, in all and for each user, whose apps count together.
enum TransferQuota {
  /// The most transfers in the queue, including ended transfers that are still listed.
  static let transfers = 20_000
  /// The most bytes of all requests.
  static let bytes = 8 << 20
  /// How many of them each user may have even if the queue is full.
  static let reserved = 1_000
  static let transfersOfUser = 10_000
  /// The most bytes of one user's requests: URLs, paths and texts.
  static let bytesOfUser = 4 << 20
  static let serversOfUser = 1_000
  static let transfersOfFlatpak = 1_000
  static let serversOfFlatpak = 64

  /// The bound that the new transfers of one sandboxed app would exceed; nil if there is room within those of its user.
  static func exceeded(
    by new: [(request: TransferRequest, server: String)], ofFlatpak share: TransferShare?
  ) -> TransfersInterface.QueueFull? {
    if new.count + (share?.ids.count ?? 0) > transfersOfFlatpak {
      return full(transfersOfFlatpak, "transfers of one sandboxed app", untilForgotten)
    }
    guard Set(new.map(\.server)).union(share.map { Set($0.servers.keys) } ?? []).count > serversOfFlatpak else {
      return nil
    }
    return full(serversOfFlatpak, "servers of one sandboxed app's transfers", untilForgotten)
  }

  /// Finds the bound that a user's new transfers would exceed.
  ///
  /// - Parameters:
  ///   - new: the new transfers, each with its server.
  ///   - share: the shares of the user's apps.
  ///   - count: the number of transfers of all users.
  ///   - total: the bytes of the requests of all users.
  /// - Returns: the error for the first exceeded bound; nil if there is room.
  static func exceeded(
    by new: [(request: TransferRequest, server: String)], _ share: [TransferShare], count: Int, total: Int
  ) -> TransfersInterface.QueueFull? {
    let own = share.reduce(new.count) { $0 + $1.ids.count }
    if own > transfersOfUser {
      return full(transfersOfUser, "transfers of one user", untilForgotten)
    }
    let added = new.reduce(0) { $0 + $1.request.bytes }
    if share.reduce(added, { $0 + $1.bytes }) > bytesOfUser {
      return full(bytesOfUser, "bytes of one user's requests", "use shorter URLs and texts, or \(untilForgotten)")
    }
    let servers = share.reduce(into: Set(new.map(\.server))) { $0.formUnion($1.servers.keys) }
    if servers.count > serversOfUser {
      return full(serversOfUser, "servers of one user's transfers", untilForgotten)
    }
    guard own > reserved else { return nil }
    if count + new.count > transfers { return full(transfers, "transfers of all users", untilForgotten) }
    if total + added > bytes { return full(bytes, "bytes of all users' requests", untilForgotten) }
    return nil
  }

  /// The remedy where only time makes room: an ended transfer is listed for a day, and counts.
  private static let untilForgotten = "wait: a transfer counts until a day after its end"

  private static func full(_ limit: Int, _ bound: String, _ remedy: String) -> TransfersInterface.QueueFull {
    TransfersInterface.QueueFull(limit: limit, bound: bound, remedy: remedy)
  }
}

extension TransferRequest {
  /// The approximate number of bytes that are kept for it.
  fileprivate var bytes: Int {
    let texts = [url, path, description, sha256, headersFile, credentialFile, notice]
    return texts.reduce(256) { $0 + ($1?.utf8.count ?? 0) }
  }
}

extension KnownTransfers {
  /// The bound of the queue that an app's new transfers would exceed; nil if there is room.
  func exceeded(
    by asked: [CheckedTransfer], of app: AppConfiguration, isFlatpak: Bool, in configuration: ConfigurationInForce,
    at now: Instant
  ) -> TransfersInterface.QueueFull? {
    // An app that has left the configuration counts for its last owner.
    let owned = shares.filter { (configuration[$0]?.owner.uid ?? $1.owner) == app.owner.uid }
    let new = asked.map { ($0.request, $0.policy(of: app.id, at: now).server) }
    if isFlatpak, let full = TransferQuota.exceeded(by: new, ofFlatpak: shares[app.id]) { return full }
    return TransferQuota.exceeded(by: new, Array(owned.values), count: count, total: bytes)
  }
}

extension TransferRequest {
  /// Why the app must not move this transfer under its present file; nil if it may.
  ///
  /// A transfer reads and writes files as the owner of its app. A former owner who requested it must not have another
  /// user's rights used for it.
  func refusal(by app: AppConfiguration) -> String? {
    guard let owner else {
      return "cannot find out who requested it; request it again"
    }
    guard owner != app.owner.uid else { return nil }
    return "cannot continue: the app's owner was user \(owner) when it was requested, and is \(app.owner.name) now; "
      + "request it again"
  }
}

extension TransferRunner {
  /// Stops and removes the transfers that run for a former owner of their app; the next start refuses them.
  func stopThoseOfFormerOwners(_ core: DaemonCore) {
    for id in workers.given {
      guard let transfer = self[id], core.engine.transferState(of: id)?.stage == .transferring,
        core.configuration[transfer.session.app].flatMap(transfer.request.refusal) != nil
      else { continue }
      _ = workers.stop(id, Wire.Order(kind: .discard, id: Int64(id.number), transfer: assignment(transfer)))
    }
  }
}
