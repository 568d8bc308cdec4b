import RefreshAPI
import RefreshEngine
import Varlink

/// The calls that are told what becomes of transfers (FEATURES F3).
struct TransferWatchers {
  /// One of them.
  enum Watcher {
    /// A person or a program that watches, all that it may ask about or one app.
    case watch(Call<TransfersInterface.Watch.Parameters>, AppID?)
    /// The one handler of a session.
    case rejoin(Call<TransfersInterface.Rejoin.Parameters>, TransferSession)

    var peer: Peer {
      switch self {
      case .watch(let call, _): call.peer
      case .rejoin(let call, _): call.peer
      }
    }

    /// Whether it asked about transfers of this session.
    func asks(about session: TransferSession) -> Bool {
      switch self {
      case .watch(_, let app): app == nil || app == session.app
      case .rejoin(_, let own): own == session
      }
    }
  }

  private(set) var all: [Int: Watcher] = [:]
  private var last = 0
  /// The transfers that have changed since they were told of.
  var news: Set<TransferID> = []
  /// Those that are not listed any more and were, with their sessions.
  var forgotten: [TransferID: TransferSession] = [:]
  /// When the last news was told, boot clock.
  var toldAt: Instant?
  /// When they are to be told the next news, boot clock; nil while there is none.
  var dueAt: Instant?

  /// Takes up a call, and gives the number to remove it by.
  mutating func add(_ watcher: Watcher) -> Int {
    last += 1
    all[last] = watcher
    return last
  }

  /// Forgets a call.
  mutating func remove(_ number: Int) { all[number] = nil }

  /// Whether a connection has rejoined the session.
  func isTaken(_ session: TransferSession) -> Bool {
    all.values.contains { if case .rejoin(_, session) = $0 { true } else { false } }
  }
}

extension Daemon {
  /// How long after the last news the next is told at the earliest, boot clock: of progress, and of all else.
  private static let progressInterval = Duration.milliseconds(500)
  private static let newsInterval = Duration.milliseconds(50)

  /// Has those who watch told that something is new about a transfer, with what else is.
  ///
  /// Progress is told twice a second; that it begins, ends or waits is worth more than that.
  func tellTransferWatchers(of id: TransferID, isProgress: Bool) {
    guard !transferWatchers.all.isEmpty else { return }
    transferWatchers.news.insert(id)
    let now = Moment.now().instant
    let interval = isProgress ? Self.progressInterval : Self.newsInterval
    let at = max(now, transferWatchers.toldAt.map { $0 + interval } ?? now)
    if let due = transferWatchers.dueAt, due <= at { return }
    transferWatchers.dueAt = at
    newsTimer?.arm(at: at.microseconds, accuracy: 1000)
  }

  /// Has those who watch told that a transfer is not listed any more.
  func tellTransferWatchers(thatForgotten id: TransferID, of session: TransferSession) {
    guard !transferWatchers.all.isEmpty else { return }
    transferWatchers.forgotten[id] = session
    tellTransferWatchers(of: id, isProgress: false)
  }

  /// Tells those who watch all that is new.
  func tellNewsOfTransfers() {
    let now = readClocks()
    transferWatchers.dueAt = nil
    transferWatchers.toldAt = now
    let news = transferWatchers.news.sorted()
    let forgotten = transferWatchers.forgotten.sorted { $0.key < $1.key }
    (transferWatchers.news, transferWatchers.forgotten) = ([], [:])
    for watcher in transferWatchers.all.values {
      let found = news.compactMap { wire($0, for: watcher, at: now) }
      let gone = forgotten.filter { watcher.asks(about: $0.value) && may(watcher.peer, about: $0.value.app) }
      if !found.isEmpty || !gone.isEmpty { tell(watcher, found, forgotten: gone.map { Int64($0.key.number) }) }
    }
  }

  /// Tells a watcher all that it asked for.
  func tellAll(_ watcher: TransferWatchers.Watcher) {
    let now = readClocks()
    tell(watcher, engine.transferIDs.compactMap { wire($0, for: watcher, at: now) })
  }

  private func wire(_ id: TransferID, for watcher: TransferWatchers.Watcher, at now: Instant) -> Wire.Transfer? {
    guard let session = engine.transferState(of: id)?.policy.session, watcher.asks(about: session),
      may(watcher.peer, about: session.app)
    else { return nil }
    return wire(id, at: now)
  }

  private func tell(_ watcher: TransferWatchers.Watcher, _ found: [Wire.Transfer], forgotten: [Int64] = []) {
    switch watcher {
    case .watch(let call, _):
      call.reply(
        TransfersInterface.Watch.Reply(transfers: found, forgotten: forgotten.isEmpty ? nil : forgotten),
        continues: true)
    case .rejoin(let call, let session):
      call.reply(
        TransfersInterface.Rejoin.Reply(transfers: found, drained: engine.isDrained(session)), continues: true)
    }
  }

  /// Whether the peer may ask about the transfers of an app, which may be none of the configuration any more.
  func may(_ peer: Peer, about app: AppID) -> Bool {
    configuration[app].map { access.may(peer, about: $0) } ?? access.mayAll(peer)
  }
}
