import RefreshEngine

/// Transfers: their requests, their workers and their ends.
extension World {
  /// A transfer that a worker has.
  struct Moving: Sendable {
    let app: AppID
    /// The time of the worker's report, since the simulation began.
    var endsAt: Duration
    var report: TransferReport
  }

  /// The transfer with the next report of a worker.
  var nextMoving: (id: TransferID, at: Duration)? {
    moving.min { ($0.value.endsAt, $0.key) < ($1.value.endsAt, $1.key) }.map { ($0.key, $0.value.endsAt) }
  }

  /// Draws limits that the simulation reaches.
  mutating func boundTransfers() {
    limits.transfers.maxConcurrent = 1 + luck.number(below: 4)
    limits.transfers.maxPerHost = 1 + luck.number(below: 3)
    limits.transfers.giveUp = luck.duration(.hours(2) ... .hours(72))
  }

  mutating func happenToTransfers() {
    guard healedAt == nil else { return healTransfers() }
    expect(.moves, in: luck.duration(luck.pick([.zero ... .minutes(1), .zero ... .minutes(30), .zero ... .hours(4)])))
    guard brain != nil else { return }
    let known = brain?.engine.transferIDs ?? []
    let id = known.isEmpty ? TransferID(1) : luck.pick(known)
    switch luck.number(below: 20) {
    case 0..<9: enqueue()
    case 9..<11:
      handle(.transferPaused(id, true))
      expect(.again(.transferPaused(id, false)), in: luck.duration(.zero ... .hours(5)))
    case 11: handle(.transferPaused(id, false))
    case 12..<14: handle(.transferCancelled(id))
    case 14: handle(.transferPrioritized(id, Int32(luck.number(below: 5)) - 2))
    case 15..<17: loseWorker()
    case 17:
      for id in moving.keys.sorted() where luck.happens(50) {
        handle(.transferMoved(id, bytes: Int64(luck.number(below: 1_000_000))))
      }
    default:
      for id in known where luck.happens(50) { handle(.roomFound(id)) }
    }
  }

  private mutating func enqueue() {
    var enqueued: [Enqueued] = []
    let app = luck.pick(ids)
    for _ in 0...luck.number(below: 3) {
      lastTransfer += 1
      let session = TransferSession(app: app, name: luck.pick(["mail", "news"]))
      enqueued.append(
        Enqueued(
          id: TransferID(lastTransfer),
          policy: TransferPolicy(
            session: session, host: luck.pick(["a", "b"]), network: luck.pick([.none, .any, .unmetered, .wifi]),
            priority: Int32(luck.number(below: 3)), enqueuedAt: instant)))
    }
    handle(.enqueued(enqueued))
    if luck.happens(10) { handle(.enqueued(enqueued)) }
  }

  /// Kills the worker of an app, with all its transfers.
  private mutating func loseWorker() {
    guard let app = moving.sorted(by: { $0.key < $1.key }).first?.value.app else { return }
    let lost = moving.filter { $0.value.app == app }.keys.sorted()
    for id in lost { moving[id] = nil }
    for id in lost { handle(.transferReported(id, .lost(hasProgressed: luck.happens(50)))) }
  }

  /// Gives a transfer to a worker.
  mutating func move(_ id: TransferID, of app: AppID) {
    let reports: [TransferReport] = [
      .done, .done, .done, .failed, .retry(after: nil, hasProgressed: true), .retry(after: nil, hasProgressed: false),
      .retry(after: luck.duration(.zero ... .hours(3)), hasProgressed: false), .noSpace(needed: 1_000_000),
      .lost(hasProgressed: false),
    ]
    let length = luck.duration(luck.pick([.zero ... .seconds(1), .zero ... .minutes(10), .zero ... .hours(9)]))
    let isHealed = healedAt != nil
    moving[id] = Moving(
      app: app, endsAt: now + (isHealed ? .seconds(1) : length), report: isHealed ? .done : luck.pick(reports))
  }

  /// Makes the worker stop a transfer, or a new worker remove its files.
  mutating func stopMoving(_ id: TransferID, of app: AppID) {
    let end = now + luck.duration(luck.pick([.zero ... .zero, .zero ... .seconds(5)]))
    if let moving = moving[id], moving.endsAt <= end { return }
    moving[id] = Moving(app: app, endsAt: end, report: luck.happens(90) ? .stopped : .lost(hasProgressed: false))
  }

  /// Makes a worker report the end of a transfer.
  mutating func endMoving(_ id: TransferID) {
    guard var ended = moving.removeValue(forKey: id) else { return }
    if ended.report == .done, healedAt == nil, luck.happens(30) {
      // The replacement of the target takes a moment.
      ended.endsAt = now + luck.duration(.zero ... .seconds(5))
      moving[id] = ended
      return handle(.transferFetched(id))
    }
    handle(.transferReported(id, ended.report))
    // The daemon drops a late report of a worker if another worker has the transfer.
    if healedAt == nil, moving[id] == nil, luck.happens(3) { handle(.transferReported(id, ended.report)) }
  }

  /// Removes all obstacles to transfers.
  private mutating func healTransfers() {
    for id in brain?.engine.transferIDs ?? [] {
      handle(.transferPaused(id, false))
      handle(.roomFound(id))
    }
  }
}
