import RefreshAPI
import RefreshEngine
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

  /// Tells a client of some transfers; false when nothing is left to tell.
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
