import RefreshEngine
import RefreshStore
import Systemd

// Journal entries about transfers; their URLs contain no secrets.

extension DaemonJournal {
  func enqueued(_ id: TransferID, of app: AppID, _ request: TransferRequest) {
    let way =
      switch request.direction {
      case .download: "\(ShownURL.of(request.url)) to \(request.path)"
      case .upload: "\(request.path) to \(ShownURL.of(request.url))"
      }
    write("\(app): transfer \(id) enqueued: \(way)", .info, .transferEnqueued, fields(app, id))
  }

  func began(_ id: TransferID, of app: AppID?, _ known: KnownTransfers.Known) {
    guard let app else { return }
    let size = known.progress.total.map { " of \($0)" } ?? ""
    let how = known.bytes > 0 ? "goes on at \(known.bytes)\(size) bytes" : "began"
    write("\(app): transfer \(id) \(how)", .info, .transferBegan, fields(app, id))
  }

  func retries(_ id: TransferID, of app: AppID?, _ known: KnownTransfers.Known) {
    guard let app else { return }
    let reason = known.progress.message.map { ": \($0)" } ?? ""
    write(
      "\(app): transfer \(id) is to be tried again, \(known.bytes) bytes are there\(reason)", .notice, .transferRetried,
      fields(app, id))
  }

  func ended(_ id: TransferID, of app: AppID, _ result: TransferResult, _ known: KnownTransfers.Known) {
    let reason = known.progress.message.map { ": \($0)" } ?? ""
    let text =
      switch result {
      case .done: "done, \(known.bytes) bytes"
      case .failed: "failed\(reason)"
      case .cancelled: "cancelled"
      case .expired: "given up, it was tried for too long\(reason)"
      }
    let isTrouble = result == .failed || result == .expired
    write(
      "\(app): transfer \(id) \(text)", isTrouble ? .warning : .info, .transferEnded,
      fields(app, id) + [JournalEntry.Field("REFRESH_OUTCOME", result.rawValue)])
  }

  func dropped(wakeFor session: TransferSession) {
    write(
      "\(session.app): nothing of it could be started for a week, so it does not learn that its transfer session "
        + "\"\(session.name)\" has ended; refreshctl history \(session.app) says why", .warning, .wakeDropped,
      [
        JournalEntry.Field("REFRESH_APP", session.app.description),
        JournalEntry.Field("REFRESH_SESSION", session.name),
      ])
  }

  func forgot(_ id: TransferID, _ problem: StoreError) {
    write(
      "cannot go on with transfer \(id), so it is forgotten; ask for it again: \(problem)", .error, nil,
      [JournalEntry.Field("REFRESH_TRANSFER", id.description)])
  }

  func workerEnded(of app: AppID, _ trouble: String) {
    write(
      "\(app): its transfers stopped: \(trouble)", .warning, nil, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  private func fields(_ app: AppID, _ id: TransferID) -> [JournalEntry.Field] {
    [JournalEntry.Field("REFRESH_APP", app.description), JournalEntry.Field("REFRESH_TRANSFER", id.description)]
  }
}
