import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Applies a worker's reports in one commit, and answers after it.
  ///
  /// A worker may forget an answered report. If the disk is full, the daemon and the worker go on in memory.
  func report(_ call: Call<WorkerInterface.Report.Parameters>) {
    guard let worker = transfers.workers.worker(of: call.parameters.token, for: call.peer) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    let now = core.readClocks()
    for report in call.parameters.reports {
      let id = TransferID(UInt64(max(0, report.id)))
      // A report about a transfer that the worker no longer has was sent twice.
      guard worker.given.contains(id) else { continue }
      transfers.apply(report.bounded, of: id, by: worker, at: now)
    }
    transfers.workers.heard(from: worker)
    let changesNothing = call.parameters.reports.allSatisfy { $0.kind == .progress || $0.kind == .fetched }
    guard !changesNothing else { return call.reply() }
    saving.afterCommit { call.reply() }
    saving.commitSoon()
  }

  /// Sends a worker its orders until none is left.
  func work(_ call: Call<WorkerInterface.Work.Parameters>) {
    if !transfers.workers.accept(call) { call.fail(RefreshdInterface.NoSuchToken()) }
  }
}

extension TransferReport {
  init(_ report: Wire.TransferReport, hasProgressed: Bool) {
    self =
      switch report.end {
      case .done: .done
      case .failed: .failed
      case .wrong: .wrong
      case .noSpace: .noSpace(needed: report.needed ?? 0)
      case .stopped: .stopped
      // The worker has not tried it.
      case .elsewhere: .retry(after: nil, hasProgressed: true)
      case .retry, nil:
        .retry(after: report.retryAfterMicroseconds.map { .microseconds($0) }, hasProgressed: hasProgressed)
      }
  }
}
