import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// Runs transfers: hands them to workers, keeps their progress, and reports their end.
final class TransferRunner: CommitContributor, SavedPart, WorkerPoolOwner {
  private(set) lazy var workers = WorkerPool(core, ports, environment, for: self)
  private(set) lazy var watchers = TransferWatchers(core, for: self)
  private lazy var space = DiskSpaceWatch(core, ports.diskSpace, for: self)
  private unowned let core: DaemonCore
  private let ports: Ports
  private let environment: TaskEnvironment
  private let parts: Parts
  private var known: KnownTransfers
  private var postponed = PostponedReports()
  /// Whether any transfer has not ended, so that the network must be watched.
  private(set) var hasOpen: Bool

  /// How often the engine gets a transfer's progress.
  private static let tellInterval = Duration.seconds(5)

  // What the next commit saves apart from the engine's decisions: new transfers, and reports of workers.
  private var enqueued: [TransferID: StoredTransfer] = [:]
  private var progressed: Set<TransferID> = []
  private var savesAll = false

  /// The other parts that a transfer needs.
  struct Parts {
    let audience: Audience
    let saving: Saving
    let notices: DesktopNotices
  }

  init(_ known: KnownTransfers, _ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment, _ parts: Parts) {
    (self.known, self.core, self.parts) = (known, core, parts)
    (self.ports, self.environment) = (ports, environment)
    hasOpen = core.engine.transferCounts != (0, 0)
  }

  /// Begins to watch disks and to report to clients.
  func open() throws(SystemdError) {
    try watchers.open()
    try space.open()
  }

  private var journal: DaemonJournal { ports.journal }

  subscript(id: TransferID) -> KnownTransfers.Known? { known[id] }

  /// A transfer at this instant, as the socket shows it; nil for an unknown id.
  func view(of id: TransferID, at now: Instant) -> Wire.Transfer? {
    known[id]?.view(of: id, at: now, in: core.engine, launcherProblem: workers.problem)
  }

  /// The transfers that a caller may ask about, of one app or of all, in order of their numbers.
  func ids(of app: AppID?, for peer: Peer) -> [TransferID] {
    let apps = app.map { [$0] } ?? Array(known.shares.keys)
    return apps.filter { core.may(peer, about: $0) }.flatMap { known.shares[$0]?.ids ?? [] }.sorted()
  }

  /// The bound of the queue that an app's new transfers would exceed; nil if there is room.
  func exceeded(
    by asked: [CheckedTransfer], of app: AppConfiguration, isFlatpak: Bool = false
  ) -> TransfersInterface.QueueFull? {
    known.exceeded(by: asked, of: app, isFlatpak: isFlatpak, in: core.configuration, at: core.startedAt.instant)
  }

  // MARK: - Orders

  /// Adds transfers to the queue, and answers when they are on the disk.
  ///
  /// They are saved first and run after that: a transfer that cannot be stored never existed.
  func enqueue(
    _ asked: [CheckedTransfer], of app: AppID, flatpak: String? = nil,
    then answer: @escaping (StoreError?, [TransferID]) -> Void
  ) {
    let now = core.readClocks()
    let owner = core.configuration[app]?.owner.uid
    let stored = asked.map { transfer in
      var request = transfer.request
      (request.owner, request.flatpak) = (owner, flatpak)
      return (
        known.makeID(),
        StoredTransfer(state: TransferState(policy: transfer.policy(of: app, at: now)), request: request)
      )
    }
    for (id, transfer) in stored {
      known.add(id, transfer)
      enqueued[id] = transfer
    }
    parts.saving.promise { problem, _ in
      if problem != nil {
        for (id, _) in stored { (self.known[id], self.enqueued[id]) = (nil, nil) }
        // The engine does not know them, so the batch deletes them.
        var changes = Changes()
        changes.transfers = Set(stored.map(\.0))
        self.parts.saving.add(changes)
      } else {
        for (id, transfer) in stored {
          self.known.noteWords(of: transfer)
          self.ports.journal.enqueued(id, of: app, transfer.request)
        }
        self.core.handle(.enqueued(stored.map { Enqueued(id: $0, policy: $1.state.policy) }))
      }
      answer(problem, stored.map(\.0))
    }
  }

  /// Has an app's worker move a transfer.
  ///
  /// Ignores a start that was stopped while the disk did not answer, and a second start.
  func start(_ id: TransferID, of app: AppConfiguration?) {
    guard core.engine.transferState(of: id)?.stage == .transferring, !workers.hasOne(for: id) else { return }
    guard let app, var transfer = known[id] else { return report(id, .lost(hasProgressed: false)) }
    if let refusal = transfer.request.refusal(by: app) { return refuse(id, refusal) }
    transfer.progress.attempts += 1
    transfer.bytesBefore = transfer.bytes
    transfer.attempt.begin()
    (transfer.speed, transfer.isBeginReported, transfer.toldAt) = (nil, false, nil)
    known[id] = transfer
    progressed.insert(id)
    give(Wire.Order(kind: .transfer, id: Int64(id.number), transfer: assignment(transfer)), of: id, app)
  }

  /// Has a transfer stopped, and its file removed if the reason discards it.
  ///
  /// Ignores a stop that was taken back, because it could not be stored.
  func stop(_ id: TransferID, of app: AppConfiguration?, for reason: TransferStop) {
    guard let state = core.engine.transferState(of: id), case .stopping(let now) = state.stage,
      now.discards == reason.discards
    else { return }
    if reason.discards { postponed.beginRemoval(of: id) }
    guard let transfer = known[id], state.hasBegun else { return report(id, .stopped) }
    let order =
      reason.discards
      ? Wire.Order(kind: .discard, id: Int64(id.number), transfer: assignment(transfer))
      : Wire.Order(kind: .stop, id: Int64(id.number), reason: reason.rawValue)
    if workers.stop(id, order) { return }
    // Another user's worker must not remove it either.
    guard let app, reason.discards, transfer.request.refusal(by: app) == nil else { return report(id, .stopped) }
    give(order, of: id, app)
    workers.boundStop(of: id)
  }

  /// Ends a transfer that its app must not move.
  private func refuse(_ id: TransferID, _ reason: String) {
    known[id]?.progress.message = reason
    progressed.insert(id)
    report(id, .failed)
  }

  private func give(_ order: Wire.Order, of id: TransferID, _ app: AppConfiguration) {
    if !workers.order(order, of: id, app, flatpak: known[id]?.request.flatpak) {
      report(id, .lost(hasProgressed: false))
    }
  }

  private func report(_ id: TransferID, _ report: TransferReport) {
    if postponed.hold(report, of: id, in: core.engine.transferState(of: id)?.stage) { return }
    core.handle(.transferReported(id, report))
  }

  func assignment(_ transfer: KnownTransfers.Known) -> Wire.Assignment {
    let request = transfer.request
    return Wire.Assignment(
      direction: Wire.Direction(request.direction), url: request.url, path: request.path,
      method: request.isPost ? "POST" : nil, tus: request.isTus ? true : nil, sha256: request.sha256,
      length: request.length, maxRate: request.maxRate, headersFile: request.headersFile,
      credentialFile: request.credentialFile, netrc: request.usesNetrc ? true : nil,
      stallMicroseconds: core.configuration.transfers.stallTimeout.inMicroseconds,
      resume: transfer.progress.resume.map(Wire.Resume.init))
  }

  // MARK: - Reports

  /// Applies a worker's report about a transfer that it has.
  func apply(_ report: Wire.TransferReport, of id: TransferID, by worker: WorkerPool.Worker, at now: Instant) {
    guard var transfer = known[id] else { return }
    transfer.note(report, at: now)
    switch report.kind {
    case .progress, .fetched: break
    case .began:
      if !transfer.isBeginReported {
        (transfer.isBeginReported, transfer.bytesBefore) = (true, transfer.bytes)
        journal.began(id, of: worker.app, transfer)
      }
      progressed.insert(id)
      if transfer.mustLast { parts.saving.requireDurable() }
    case .ended:
      core.tally.note(moved: transfer.bytes - transfer.bytesBefore)
      // A worker that only removes the file reports the end once more.
      transfer.bytesBefore = transfer.bytes
      progressed.insert(id)
    }
    let tellsEngine = transfer.toldAt.map { $0 + Self.tellInterval <= now } ?? true
    if tellsEngine { transfer.toldAt = now }
    known[id] = transfer
    if tellsEngine { core.handle(.transferMoved(id, bytes: transfer.bytes)) }
    watchers.note(id, isProgress: true)
    if report.kind == .fetched { core.handle(.transferFetched(id)) }
    guard report.kind == .ended else { return }
    worker.remove(id)
    worker.isOutdated = worker.isOutdated || report.end == .elsewhere
    if report.end == .retry || report.end == .wrong { journal.retries(id, of: worker.app, transfer) }
    self.report(id, TransferReport(report, hasProgressed: transfer.attempt.hasProgressed))
  }

  func awaitsAnswer(_ id: TransferID) -> Bool { known[id]?.mayHaveArrived ?? false }

  func lost(_ ids: [TransferID], _ trouble: String?) {
    for id in ids {
      if let trouble { known[id]?.progress.message = trouble }
      progressed.insert(id)
      report(id, .lost(hasProgressed: known[id]?.attempt.hasProgressed ?? false))
    }
  }

  // MARK: - Decisions

  func contribute(to commit: inout CommitAdditions, from decision: Decision, on event: Event) {
    if case .configured = event { stopThoseOfFormerOwners(core) }
    for session in decision.sessionsDropped { journal.dropped(wakeFor: session) }
    let changed = decision.changes.transfers
    for id in changed where core.engine.transferState(of: id) == nil {
      if let transfer = known[id] { watchers.note(forgotten: id, of: transfer.session) }
      known[id] = nil
      space.note(id, nil)
    }
    for id in changed.sorted() {
      guard let state = core.engine.transferState(of: id) else { continue }
      if let report = postponed.release(id, in: state.stage) { core.scheduler.soon { self.report(id, report) } }
      // Otherwise the app would be notified again after a loss of power.
      if state.isDelivered { commit.isDurable = true }
      space.note(id, state.stage)
      watchers.note(id)
      if case .ended(let result, _) = state.stage, known[id]?.isEndReported == false {
        conclude(id, result, state.policy.session, &commit)
      }
    }
  }

  /// Updates whether any transfer has not ended; true if that has changed.
  func updateHasOpen() -> Bool {
    let isOpen = core.engine.transferCounts != (0, 0)
    defer { hasOpen = isOpen }
    return isOpen != hasOpen
  }

  private func conclude(
    _ id: TransferID, _ result: TransferResult, _ session: TransferSession, _ commit: inout CommitAdditions
  ) {
    guard var transfer = known[id] else { return }
    // The worker may forget the transfer then, because the file is complete.
    commit.isDurable = true
    transfer.isEndReported = true
    transfer.speed = nil
    // An earlier error does not explain these results.
    if result == .done || result == .cancelled { transfer.progress.message = nil }
    known[id] = transfer
    progressed.insert(id)
    core.tally.note(result)
    journal.ended(id, of: session.app, result, transfer)
    known.noteEnd(in: session, result)
    let text = core.engine.isDrained(session) ? known.takeWords(of: session) : nil
    let event = Wire.AttachEvent(
      kind: .transferEnded, session: session.name, url: transfer.shownURL, path: transfer.request.path,
      result: Wire.TransferResult(result))
    // The next daemon may report an end again that is not saved.
    commit.answers.append { [self] in
      parts.audience.attached.send(event, of: session.app)
      if let text { parts.notices.show(.transfers, of: session.app, body: text) }
    }
  }

  // MARK: - Saving

  var hasChanges: Bool {
    !enqueued.isEmpty || !progressed.isEmpty || savesAll
  }

  func moveChanges(into batch: inout Batch) {
    batch.transfers.whole = enqueued
    for id in progressed { batch.transfers.progress[id] = known[id]?.progress }
    for id in known.ids where savesAll {
      guard let transfer = known[id], let state = core.engine.transferState(of: id) else { continue }
      batch.transfers.whole[id] = StoredTransfer(state: state, request: transfer.request, progress: transfer.progress)
    }
    (enqueued, progressed, savesAll) = ([:], [], false)
  }

  func markAllChanged() { savesAll = true }
}
