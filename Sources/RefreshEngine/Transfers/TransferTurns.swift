// Turns of running transfers: nobody keeps a slot for ever while another waits for it.

/// The progress of a transfer that has a slot.
struct TransferPace: Sendable {
  /// The bytes that a transfer must move within ``patience`` to keep its slot: 1 KiB a second on average.
  static let worthASlot: Int64 = 30 * 1024
  static let patience = Duration.seconds(30)
  /// How long a transfer may run while a user with fewer slots waits.
  static let turn = Duration.minutes(5)
  /// How long a transfer may run while a user without a slot waits.
  static let turnBesideNone = Duration.minutes(1)
  /// How long a transfer that gave way leaves its slot to others.
  static let rest = Duration.minutes(1)

  /// When it got the slot.
  let began: Instant
  /// When it last made progress.
  private(set) var gotOnAt: Instant
  /// How many bytes were moved then; nil before the first report.
  private var bytes: Int64?

  init(at now: Instant) { (began, gotOnAt) = (now, now) }

  /// Notes how many bytes are moved.
  mutating func note(_ bytes: Int64, at now: Instant) {
    guard let before = self.bytes, bytes >= before else { return self.bytes = bytes }
    guard bytes - before >= Self.worthASlot else { return }
    (self.bytes, gotOnAt) = (bytes, now)
  }
}

extension Engine {
  /// Stops one transfer that keeps others from a slot for too long: a slow transfer, or a transfer of a user with more
  /// slots.
  ///
  /// It stops the next only when that slot is free. It sets when to look again.
  mutating func giveWay(_ turn: inout Turn) {
    transfers.yieldAt = nil
    guard transfers.hasRipe, transfers.yielding.isEmpty, !transfers.paces.isEmpty else { return }
    let given = transfers.givenOfUser { owner(of: $0) }
    var due: [(at: Instant, id: TransferID)] = []
    for (id, pace) in transfers.paces {
      guard let state = transfers[id], state.stage == .transferring, !transfers.fetched.contains(id),
        let fewest = fewestOfWaiting(for: state.policy.server, given, at: turn.now)
      else { continue }
      var at = pace.gotOnAt + TransferPace.patience
      if given[owner(of: state.policy.app)] ?? 0 >= fewest + 2 {
        at = min(at, pace.began + (fewest == 0 ? TransferPace.turnBesideNone : TransferPace.turn))
      }
      due.append((at, id))
    }
    // The newest of the due transfers, so that older transfers finish.
    let ripe = due.filter { $0.at <= turn.now }.map(\.id).max()
    guard let id = ripe else { return transfers.yieldAt = due.map(\.at).min() }
    transfers.noteYielding(id)
    stopTransfer(id, .user, &turn)
  }

  /// The fewest slots of a user who waits for the slot of a transfer with this server; nil if nobody waits.
  private func fewestOfWaiting(for server: String, _ given: [UInt32: Int], at now: Instant) -> Int? {
    var slots = TransferSlots(given: transfers, limits: limits.transfers)
    slots.giveBack(with: server)
    return transfers.lanes.compactMap { key, servers in
      let mine = given[owner(of: key.app)] ?? 0
      let waits =
        servers.keys.contains { slots.has($0, isFirst: mine == 0) }
        && lastingHolds(on: key.app, network: key.network, at: now).isEmpty
      return waits ? mine : nil
    }.min()
  }

  /// The owner of an app; root if it is not configured.
  func owner(of app: AppID) -> UInt32 { policy(of: app)?.owner ?? 0 }
}
