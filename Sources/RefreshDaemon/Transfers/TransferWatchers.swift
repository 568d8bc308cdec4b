import RefreshAPI
import RefreshEngine
import Systemd
import Varlink

/// The clients that watch transfers.
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

    fileprivate func asks(about session: TransferSession) -> Bool {
      switch self {
      case .watch(_, let app): app == nil || app == session.app
      case .rejoin(_, let own): own == session
      }
    }
  }

  /// How long after the last report the next is sent at the earliest, boot clock: of progress, and of everything else.
  private static let progressInterval = Duration.milliseconds(500)
  private static let newsInterval = Duration.milliseconds(50)

  private unowned let core: DaemonCore
  private var clients: [Int: Watcher] = [:]
  private var last = 0
  /// The transfers that have changed since the last report.
  private var news: Set<TransferID> = []
  /// The transfers that are no longer listed, with their sessions.
  private var forgotten: [TransferID: TransferSession] = [:]
  private var reportedAt: Instant?
  /// When the next report is due, boot clock; nil while nothing has changed.
  private var dueAt: Instant?
  private var timer: (any WakeTimer)?
  /// A transfer as the socket shows it; set once.
  var view: (TransferID, Instant) -> Wire.Transfer? = { _, _ in nil }

  init(_ core: DaemonCore) { self.core = core }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in report() }
  }

  /// Sends a client all transfers that it asks for, and each change until the connection of its call ends.
  func add<Parameters>(_ watcher: Watcher, until call: Call<Parameters>) {
    last += 1
    let number = last
    clients[number] = watcher
    call.onDisconnect { self.clients[number] = nil }
    let now = core.readClocks()
    send(watcher, core.engine.transferIDs.compactMap { wire($0, for: watcher, at: now) })
  }

  /// Whether a connection has rejoined the session.
  func isTaken(_ session: TransferSession) -> Bool {
    clients.values.contains { if case .rejoin(_, session) = $0 { true } else { false } }
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

  /// Has it reported that a transfer is no longer listed.
  func note(forgotten id: TransferID, of session: TransferSession) {
    guard !clients.isEmpty else { return }
    forgotten[id] = session
    note(id)
  }

  private func report() {
    let now = core.readClocks()
    (dueAt, reportedAt) = (nil, now)
    let (news, forgotten) = (news.sorted(), forgotten.sorted { $0.key < $1.key })
    (self.news, self.forgotten) = ([], [:])
    for watcher in clients.values {
      let found = news.compactMap { wire($0, for: watcher, at: now) }
      let gone = forgotten.filter { watcher.asks(about: $0.value) && core.may(watcher.peer, about: $0.value.app) }
      if !found.isEmpty || !gone.isEmpty { send(watcher, found, forgotten: gone.map { Int64($0.key.number) }) }
    }
  }

  private func wire(_ id: TransferID, for watcher: Watcher, at now: Instant) -> Wire.Transfer? {
    guard let session = core.engine.transferState(of: id)?.policy.session, watcher.asks(about: session),
      core.may(watcher.peer, about: session.app)
    else { return nil }
    return view(id, now)
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
