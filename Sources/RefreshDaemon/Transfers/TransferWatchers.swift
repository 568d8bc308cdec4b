import JSON
import RefreshAPI
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// The clients that watch transfers.
///
/// Each message to a client is composed in the client's own turns of the loop, so that many transfers or clients delay no
/// other caller.
final class TransferWatchers {
  enum Watcher {
    /// A client that watches one app, or all that it may ask about.
    case watch(Call<TransfersInterface.Watch.Parameters>, AppID?)
    /// The one handler of a session.
    case rejoin(Call<TransfersInterface.Rejoin.Parameters>, TransferSession)

    fileprivate var peer: Peer {
      switch self {
      case .watch(let call, _): call.peer
      case .rejoin(let call, _): call.peer
      }
    }

    fileprivate var app: AppID? {
      switch self {
      case .watch(_, let app): app
      case .rejoin(_, let session): session.app
      }
    }

    fileprivate func asks(about session: TransferSession) -> Bool {
      switch self {
      case .watch(_, let app): app == nil || app == session.app
      case .rejoin(_, let own): own == session
      }
    }

    fileprivate func inTurns(_ step: @escaping () -> Bool) {
      switch self {
      case .watch(let call, _): call.inTurns(step)
      case .rejoin(let call, _): call.inTurns(step)
      }
    }
  }

  /// A client, and the transfers that it must still receive.
  private final class WatchingClient {
    let watcher: Watcher
    /// The transfers to look at now; ``changed`` collects transfers that change meanwhile.
    var line: ArraySlice<TransferID>
    var changed: Set<TransferID> = []
    var forgotten: [TransferID] = []
    /// The transfers for the first answer, which lists all; nil after it.
    var first: [TransferID: Wire.Transfer]? = [:]
    /// Whether a turn is pending.
    var hasTurn = true

    init(_ watcher: Watcher, _ ids: [TransferID]) { (self.watcher, line) = (watcher, ids[...]) }
  }

  /// The shortest time between two reports, boot clock: of progress, and of other changes.
  private static let progressInterval = Duration.milliseconds(500)
  private static let newsInterval = Duration.milliseconds(50)

  private unowned let core: DaemonCore
  private var clients: [Int: WatchingClient] = [:]
  private var last = 0
  /// The transfers that have changed since the last report.
  private var news: Set<TransferID> = []
  /// The transfers that left the list, with their sessions.
  private var forgotten: [TransferID: TransferSession] = [:]
  private var reportedAt: Instant?
  /// When the next report is due, boot clock; nil while nothing has changed.
  private var dueAt: Instant?
  private var timer: (any WakeTimer)?
  private unowned let runner: TransferRunner

  init(_ core: DaemonCore, for runner: TransferRunner) { (self.core, self.runner) = (core, runner) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in report() }
  }

  /// Sends a client all transfers that it asks for, and each change until the connection of its call ends.
  func add<Parameters>(_ watcher: Watcher, until call: Call<Parameters>) {
    last += 1
    let number = last
    clients[number] = WatchingClient(watcher, runner.ids(of: watcher.app, for: watcher.peer))
    call.onDisconnect { self.clients[number] = nil }
    if tell(number) { watcher.inTurns { self.tell(number) } }
  }

  /// Whether a connection has rejoined the session.
  func isTaken(_ session: TransferSession) -> Bool {
    clients.values.contains { if case .rejoin(_, session) = $0.watcher { true } else { false } }
  }

  /// Has a change of a transfer reported, together with other changes.
  ///
  /// Progress is reported twice a second; a start, an end or a wait is reported sooner.
  func note(_ id: TransferID, isProgress: Bool = false) {
    guard !clients.isEmpty else { return }
    news.insert(id)
    let now = core.now
    let interval = isProgress ? Self.progressInterval : Self.newsInterval
    let at = max(now, reportedAt.map { $0 + interval } ?? now)
    if let due = dueAt, due <= at { return }
    dueAt = at
    timer?.arm(at: at.microseconds, accuracy: 1000)
  }

  /// Has the removal of a transfer from the list reported.
  func note(forgotten id: TransferID, of session: TransferSession) {
    guard !clients.isEmpty else { return }
    forgotten[id] = session
    note(id)
  }

  private func report() {
    (dueAt, reportedAt) = (nil, core.now)
    let (news, forgotten) = (news, forgotten)
    (self.news, self.forgotten) = ([], [:])
    for (number, client) in clients {
      client.changed.formUnion(news)
      for (id, session) in forgotten where isWanted(session, by: client.watcher) {
        client.forgotten.append(id)
        client.first?[id] = nil
      }
      guard !client.hasTurn else { continue }
      client.hasTurn = true
      client.watcher.inTurns { self.tell(number) }
    }
  }

  /// Reports some transfers to a client; false when nothing is left to report.
  private func tell(_ number: Int) -> Bool {
    guard let client = clients[number] else { return false }
    if client.line.isEmpty { (client.line, client.changed) = (client.changed.sorted()[...], []) }
    let now = core.readClocks()
    let found = client.line.prefix(Daemon.transfersInTurn).compactMap { id -> Wire.Transfer? in
      guard let session = core.engine.transferState(of: id)?.policy.session, isWanted(session, by: client.watcher)
      else { return nil }
      return runner.view(of: id, at: now)
    }
    client.line = client.line.dropFirst(Daemon.transfersInTurn)
    client.hasTurn = !client.line.isEmpty || !client.changed.isEmpty
    if client.first != nil {
      for transfer in found { client.first?[TransferID(UInt64(transfer.id))] = transfer }
      guard !client.hasTurn else { return true }
      let all = client.first?.sorted { $0.key < $1.key }.map(\.value) ?? []
      client.first = nil
      client.forgotten = []
      send(client.watcher, all)
    } else if !found.isEmpty || !client.forgotten.isEmpty {
      let gone = client.forgotten.sorted().map { Int64($0.number) }
      client.forgotten = []
      send(client.watcher, found, forgotten: gone)
    }
    return client.hasTurn
  }

  private func isWanted(_ session: TransferSession, by watcher: Watcher) -> Bool {
    watcher.asks(about: session) && core.may(watcher.peer, about: session.app)
  }

  private func send(_ watcher: Watcher, _ found: [Wire.Transfer], forgotten: [Int64] = []) {
    switch watcher {
    case .watch(let call, _):
      call.reply(
        TransfersInterface.Watch.Reply(transfers: found, forgotten: forgotten.isEmpty ? nil : forgotten),
        continues: true)
    case .rejoin(let call, let session):
      call.reply(
        TransfersInterface.Rejoin.Reply(transfers: found, drained: core.engine.isDrained(session)), continues: true)
    }
  }
}

// Transfers as the socket shows them.

extension KnownTransfers.Known {
  /// The transfer at this instant; nil if the engine does not know the id.
  func view(
    of id: TransferID, at now: Instant, in engine: Engine, launcherProblem: String?
  ) -> Wire.Transfer? {
    guard let state = engine.transferState(of: id), let verdict = engine.transferVerdict(on: id, at: now) else {
      return nil
    }
    let policy = state.policy
    var (result, ended): (TransferResult?, Instant?) = (nil, nil)
    if case .ended(let how, let at) = state.stage { (result, ended) = (how, at) }
    // A worker that cannot be started reports nothing.
    let isStarting = state.stage == .transferring && speed == nil
    return Wire.Transfer(
      id: Int64(id.number), app: policy.app.description, session: policy.session.name,
      direction: Wire.Direction(request.direction), url: shownURL, path: request.path,
      description: request.description, state: Wire.TransferState(state.stage),
      holds: verdict.holds(of: policy, wallOffset: engine.wallOffset),
      untilMicroseconds: verdict.until?.wallMicroseconds(at: engine.wallOffset),
      bytes: bytes, total: progress.total ?? request.length, rate: speed?.rate,
      attempts: progress.attempts, message: isStarting ? launcherProblem ?? progress.message : progress.message,
      result: result.map(Wire.TransferResult.init),
      sha256: progress.sha256, priority: Int64(policy.priority),
      network: Wire.NetworkConstraint(policy.network),
      enqueuedMicroseconds: policy.enqueuedAt.wallMicroseconds(at: engine.wallOffset),
      endedMicroseconds: ended?.wallMicroseconds(at: engine.wallOffset))
  }
}

extension TransferVerdict {
  /// When the transfer is due; nil if it is not waiting for time to pass.
  fileprivate var until: Instant? {
    if case .notDue(let until) = self { until } else { nil }
  }

  /// The holds on a transfer with their remedies; nil if there are none.
  func holds(of policy: TransferPolicy, wallOffset: Duration) -> [Wire.Hold]? {
    switch self {
    case .held(let holds):
      holds.map { hold in
        let shown = hold.wire(of: policy.app.description, wallOffset: wallOffset)
        guard let remedy = hold.remedy(of: policy) else { return shown }
        return Wire.Hold(name: shown.name, remedy: remedy, untilMicroseconds: shown.untilMicroseconds)
      }
    case .noSpace(let needed):
      [Wire.Hold(name: "space", remedy: "free \(needed) bytes on the disk of the file; then it continues by itself")]
    case .ready, .notDue, .transferring, .stopping, .paused, .ended: nil
    }
  }
}

extension Hold {
  /// The remedy of a hold, if it differs from a refresh's remedy.
  fileprivate func remedy(of policy: TransferPolicy) -> String? {
    switch self {
    case .constraint(.network, _):
      switch policy.network {
      case .none, .any: "a network that reaches the internet"
      case .unmetered: "a network that is not metered"
      case .wifi: "Wi-Fi that reaches the internet"
      }
    case .concurrency:
      "a free slot for the transfer; max_concurrent and max_per_host of [transfers] set the limits"
    default: nil
    }
  }
}

extension Wire.Resume {
  init(_ resume: ResumeData) {
    self.init(
      url: resume.url, etag: resume.etag, lastModified: resume.lastModified, date: resume.date, total: resume.total,
      durable: resume.durable, boot: resume.boot, tusURL: resume.tusURL, partMark: resume.partMark)
  }
}

extension ResumeData {
  init(_ resume: Wire.Resume) {
    self.init(durable: resume.durable, boot: resume.boot)
    (url, etag, lastModified, date) = (resume.url, resume.etag, resume.lastModified, resume.date)
    (total, tusURL, partMark) = (resume.total, resume.tusURL, resume.partMark)
  }
}

/// A line on an app's standard input about one transfer of an ended session.
private struct SessionReportLine: JSONWritable {
  let url: String
  let path: String
  let outcome: String
  let bytes: Int64
  let sha256: String?
  let description: String?
  let message: String?

  /// Writes the members that are not nil.
  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("bytes", bytes)
    json.member("description", description)
    json.member("message", message)
    json.member("outcome", outcome)
    json.member("path", path)
    json.member("sha256", sha256)
    json.member("url", url)
    json.endObject()
  }
}

extension TransferRunner {
  /// The lines of JSON for the transfers of the session that a refresh reports; nil for another refresh.
  func sessionReport(deliveredBy refresh: RefreshID, to app: AppID, in engine: Engine) -> String? {
    guard let started = engine.started(of: refresh), started.session != nil else { return nil }
    return engine.transfers(deliveredBy: started, to: app).compactMap { id -> String? in
      guard let transfer = self[id], case .ended(let result, _) = engine.transferState(of: id)?.stage else {
        return nil
      }
      let line = SessionReportLine(
        url: transfer.shownURL, path: transfer.request.path, outcome: result.rawValue, bytes: transfer.bytes,
        sha256: transfer.progress.sha256, description: transfer.request.description,
        message: transfer.progress.message)
      do { return try line.jsonText(.line) + "\n" } catch { return nil }
    }.joined()
  }
}

/// The desktop notice about a session, for the end of its last transfer.
struct TransferSessionNotice: Hashable, Sendable {
  /// The app's text; nil if it gave none.
  var words: String?
  private var done = 0
  private var failed = 0

  init(words: String? = nil) { self.words = words }

  /// Counts an ended transfer of the session.
  mutating func note(_ result: TransferResult) {
    switch result {
    case .done: done += 1
    case .failed, .expired: failed += 1
    case .cancelled: break
    }
  }

  /// The app's text with the number of failures; nil without a text, or if the user has cancelled all transfers.
  var text: String? {
    guard let words, done + failed > 0 else { return nil }
    if failed == 0 { return words }
    return done + failed == 1 ? "\(words) (failed)" : "\(words) (\(failed) of \(done + failed) failed)"
  }
}

extension KnownTransfers {
  /// The displayed speed of a transfer: the average over a few seconds.
  struct Speed {
    private var bytes: Int64
    private var at: Instant
    /// Bytes a second; nil until it is known.
    private(set) var rate: Int64?

    init(bytes: Int64, at now: Instant) { (self.bytes, at) = (bytes, now) }

    /// Updates the speed with the moved bytes.
    mutating func note(_ bytes: Int64, at now: Instant) {
      let elapsed = at.duration(to: now).inMicroseconds
      guard elapsed >= 200_000 else { return }
      let latest = Int64(exactly: (Double(max(0, bytes - self.bytes)) / Double(elapsed) * 1e6).rounded())
      guard let latest else { return }
      rate = rate.map { $0 / 2 + latest / 2 } ?? latest
      (self.bytes, at) = (bytes, now)
    }
  }
}
