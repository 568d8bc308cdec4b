import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

// What the engine decides of transfers, on its way to the workers.

extension Daemon {
  /// Has a transfer moved by its app's worker.
  func transfer(_ id: TransferID, of app: AppConfiguration?) {
    guard let app, var known = transfers[id] else { return handle(.transferReported(id, .lost(hasProgressed: false))) }
    known.progress.attempts += 1
    known.bytesBefore = known.bytes
    known.mostBefore = max(known.mostBefore, known.bytes)
    (known.speed, known.isBegunTold) = (nil, false)
    transfers[id] = known
    pending.transferProgress.insert(id)
    order(Wire.Order(kind: .transfer, id: Int64(id.number), transfer: assignment(known)), of: id, app)
  }

  /// Has a transfer stopped, and what is there of it removed if that is the reason.
  func stopTransfer(_ id: TransferID, of app: AppConfiguration?, for reason: TransferStop) {
    guard let known = transfers[id] else { return handle(.transferReported(id, .stopped)) }
    let order =
      reason.discards
      ? Wire.Order(kind: .discard, id: Int64(id.number), transfer: assignment(known))
      : Wire.Order(kind: .stop, id: Int64(id.number), reason: reason.rawValue)
    if let holder = workers.holder(of: id) {
      workers[holder.key]?.orders.append(order)
      noteStopping(id, by: holder)
    } else if let app, reason.discards {
      self.order(order, of: id, app)
      if let holder = workers.holder(of: id) { noteStopping(id, by: holder) }
    } else {
      handle(.transferReported(id, .stopped))
    }
  }

  /// Bounds how long a worker may take to stop a transfer.
  private func noteStopping(_ id: TransferID, by worker: TransferWorkers.Worker) {
    workers[worker.key]?.stopping.insert(id)
    let takesLonger = transfers[id]?.mayHaveArrived ?? false
    if worker.stage == .working, worker.stopping.isEmpty || takesLonger { armWorker(worker.key) }
  }

  private func order(_ order: Wire.Order, of id: TransferID, _ app: AppConfiguration) {
    guard let key = workers.open(of: app.id)?.key ?? startWorker(of: app) else {
      return handle(.transferReported(id, .lost(hasProgressed: false)))
    }
    workers[key]?.orders.append(order)
    workers[key]?.given.insert(id)
    if let worker = workers[key], worker.stage == .working, worker.stopping.isEmpty { armWorker(key) }
  }

  private func assignment(_ known: Transfers.Known) -> Wire.Assignment {
    let request = known.request
    return Wire.Assignment(
      direction: Wire.Direction(request.direction), url: request.url, path: request.path,
      method: request.isPost ? "POST" : nil, tus: request.isTus ? true : nil, sha256: request.sha256,
      length: request.length, maxRate: request.maxRate, headersFile: request.headersFile,
      credentialFile: request.credentialFile, netrc: request.usesNetrc ? true : nil,
      stallMicroseconds: configuration.transfers.stallTimeout.inMicroseconds,
      resume: known.progress.resume.map(Wire.Resume.init))
  }

  /// Takes note of what a decision changed of transfers.
  func noteTransfers(_ decision: Decision, at now: Instant) {
    guard !decision.transfersChanged.isEmpty || !decision.transfersRemoved.isEmpty else { return }
    pending.transfersChanged.formUnion(decision.transfersChanged)
    pending.transfersRemoved.formUnion(decision.transfersRemoved)
    for id in decision.transfersRemoved {
      if let known = transfers[id] { tellTransferWatchers(thatForgotten: id, of: known.session) }
      transfers[id] = nil
    }
    for id in decision.transfersChanged.sorted() {
      guard let state = engine.transferState(of: id) else { continue }
      let stage = state.stage
      // That an app was told, which would be told again.
      if state.isDelivered { pending.mustLast = true }
      noteRoom(id, stage)
      tellTransferWatchers(of: id, isProgress: false)
      if case .ended(let result, _) = stage, transfers[id]?.isEndTold == false { conclude(id, result) }
    }
  }

  /// Has the network watched while there are transfers that need to know of it, and no longer.
  func watchForTransfers() {
    let hasOpen = engine.transferCounts != (0, 0)
    guard hasOpen != transfers.hasOpen else { return }
    transfers.hasOpen = hasOpen
    watch()
  }

  /// Tells everybody that a transfer has ended.
  private func conclude(_ id: TransferID, _ result: TransferResult) {
    guard var known = transfers[id], let session = engine.transferState(of: id)?.policy.session else { return }
    // What the worker may forget then: it has the file in its place.
    pending.mustLast = true
    known.isEndTold = true
    known.speed = nil
    // What was in the way before is no reason of these.
    if result == .done || result == .cancelled { known.progress.message = nil }
    transfers[id] = known
    pending.transferProgress.insert(id)
    tally.note(result)
    journal.ended(id, of: session.app, result, known)
    tellAttached(of: known, result, session)
    transfers.noteEnd(in: session, result)
    if engine.isDrained(session) { tellDesktop(of: session) }
  }

  /// What the next commit saves of transfers.
  func transferChanges(of turn: Pending) -> TransferChanges {
    var changes = TransferChanges()
    changes.whole = turn.enqueued
    changes.removed = turn.transfersRemoved
    for id in turn.transfersChanged { changes.states[id] = engine.transferState(of: id) }
    for id in turn.transferProgress { changes.progress[id] = transfers[id]?.progress }
    guard turn.savesAll else { return changes }
    for (id, known) in transfers.all {
      guard let state = engine.transferState(of: id) else { continue }
      changes.whole[id] = StoredTransfer(state: state, request: known.request, progress: known.progress)
    }
    return changes
  }
}

extension Wire.Direction {
  init(_ direction: TransferRequest.Direction) {
    self =
      switch direction {
      case .download: .download
      case .upload: .upload
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
