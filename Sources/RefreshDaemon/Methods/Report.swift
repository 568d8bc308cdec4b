import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Takes what a worker tells of its transfers: all of one call in one commit, after which it is answered.
  ///
  /// A worker that is told that its word is saved may forget it. On a full disk the daemon goes on in memory, and so does
  /// the worker.
  func report(_ call: Call<WorkerInterface.Report.Parameters>) {
    guard let worker = workers.worker(of: call.parameters.token) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    let now = readClocks()
    for report in call.parameters.reports {
      let id = TransferID(UInt64(max(0, report.id)))
      // What it told of before is told twice.
      guard workers[worker.key]?.given.contains(id) == true else { continue }
      take(report.bounded, of: id, by: worker.key, at: now)
    }
    // One that was told to end does not live on by talking.
    if worker.stage == .working, workers[worker.key]?.stopping.isEmpty == true { armWorker(worker.key) }
    let isSaved = call.parameters.reports.allSatisfy { $0.kind == .progress || $0.kind == .fetched }
    guard !isSaved else { return call.reply() }
    pending.answers.append { call.reply() }
    commitSoon()
  }

  private func take(_ report: Wire.TransferReport, of id: TransferID, by key: TaskKey, at now: Instant) {
    guard var known = transfers[id] else { return }
    if let total = report.total { known.progress.total = total }
    if let bytes = report.bytes ?? report.resume?.durable { known.bytes = bytes }
    if known.speed == nil { known.speed = Transfers.Speed(bytes: known.bytes, at: now) }
    known.speed?.note(known.bytes, at: now)
    switch report.kind {
    case .progress, .fetched: break
    case .began:
      known.progress.resume = report.resume.map(ResumeData.init) ?? known.progress.resume
      known.progress.bytes = known.bytes
      if !known.isBegunTold {
        (known.isBegunTold, known.bytesBefore) = (true, known.bytes)
        journal.began(id, of: workers[key]?.app, known)
      }
      pending.transferProgress.insert(id)
      if known.mustLast { pending.mustLast = true }
    case .ended:
      tally.note(moved: known.bytes - known.bytesBefore)
      end(&known, by: report)
      pending.transferProgress.insert(id)
    }
    transfers[id] = known
    tellTransferWatchers(of: id, isProgress: true)
    if report.kind == .fetched { handle(.transferFetched(id)) }
    guard report.kind == .ended else { return }
    workers[key]?.given.remove(id)
    workers[key]?.stopping.remove(id)
    if report.end == .retry { journal.retries(id, of: workers[key]?.app, known) }
    handle(.transferReported(id, TransferReport(report, hasProgressed: known.hasProgressed)))
  }

  private func end(_ known: inout Transfers.Known, by report: Wire.TransferReport) {
    known.speed = nil
    known.progress.message = report.message.map { OutputLines.message(of: $0) }
    known.progress.sha256 = report.sha256
    if report.end == .done {
      known.progress.total = known.progress.total ?? known.bytes
      known.progress.resume = nil
    }
    known.progress.bytes = known.bytes
  }
}

extension TransferReport {
  fileprivate init(_ report: Wire.TransferReport, hasProgressed: Bool) {
    self =
      switch report.end {
      case .done: .done
      case .failed: .failed
      case .noSpace: .noSpace(needed: report.needed ?? 0)
      case .stopped: .stopped
      case .retry, nil:
        .retry(after: report.retryAfterMicroseconds.map { .microseconds($0) }, hasProgressed: hasProgressed)
      }
  }
}
