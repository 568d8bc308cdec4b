import RefreshAPI
import RefreshEngine
import RefreshStore
import Systemd

/// Workers' reports about transfers whose removal is decided and not stored yet.
///
/// A cancellation that the disk cannot store is taken back. Until then, a report that would end the transfer waits.
struct PostponedReports {
  /// The transfers whose removal is stored, so that any report may end them.
  private var removing: Set<TransferID> = []
  private var reports: [TransferID: TransferReport] = [:]

  /// Holds a report back if the transfer is in this stage, and returns whether it does; never holds back a complete file.
  mutating func hold(_ report: TransferReport, of id: TransferID, in stage: TransferState.Stage?) -> Bool {
    guard report != .done, case .stopping(let reason) = stage, reason.discards, !removing.contains(id) else {
      return false
    }
    reports[id] = report
    return true
  }

  /// Releases the report of a transfer whose removal is stored: its worker reports the end.
  mutating func beginRemoval(of id: TransferID) {
    removing.insert(id)
    reports[id] = nil
  }

  /// Applies the stage of a transfer; returns the report that was held back, if the transfer is not removed after all.
  mutating func release(_ id: TransferID, in stage: TransferState.Stage) -> TransferReport? {
    if case .stopping(let reason) = stage, reason.discards { return nil }
    removing.remove(id)
    return reports.removeValue(forKey: id)
  }
}

// Bounds a worker's report before it is used or saved, because parts of it come from a server.

extension Wire.TransferReport {
  /// The report with every number within its bounds, and without overlong texts.
  var bounded: Wire.TransferReport {
    Wire.TransferReport(
      id: id, kind: kind, resume: resume?.bounded, bytes: bytes.map(ReportBounds.number),
      total: total.map(ReportBounds.number), end: end,
      retryAfterMicroseconds: retryAfterMicroseconds.map(ReportBounds.number),
      needed: needed.map(ReportBounds.number), sha256: sha256.flatMap { ReportBounds.text($0, most: 64) },
      message: message)
  }
}

extension Wire.Resume {
  fileprivate var bounded: Wire.Resume {
    Wire.Resume(
      url: url.flatMap { ReportBounds.text($0, most: ReportBounds.longestURL) },
      etag: etag.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      lastModified: lastModified.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      date: date.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      total: total.map(ReportBounds.number), durable: ReportBounds.number(durable),
      // No boot has an empty name, so these bytes do not count as durable.
      boot: ReportBounds.text(boot, most: 64) ?? "",
      tusURL: tusURL.flatMap { ReportBounds.text($0, most: ReportBounds.longestURL) }, partMark: partMark)
  }
}

/// The bounds of a worker's report.
enum ReportBounds {
  /// The greatest number of bytes or microseconds: the store can read it back, and small sums cannot overflow.
  static let greatest: Int64 = 1 << 60
  /// The most bytes of a header that is kept.
  static let longestValidator = 4096
  /// The most bytes of a URL that a server gave.
  static let longestURL = 8192

  /// The nearest number within the bounds.
  static func number(_ number: Int64) -> Int64 { min(max(0, number), greatest) }

  /// The text, unless it is too long.
  static func text(_ text: String, most: Int) -> String? { text.utf8.count <= most ? text : nil }
}

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
      "\(app): transfer \(id) will be tried again; \(known.bytes) bytes are there\(reason)", .notice, .transferRetried,
      fields(app, id))
  }

  func ended(_ id: TransferID, of app: AppID, _ result: TransferResult, _ known: KnownTransfers.Known) {
    let reason = known.progress.message.map { ": \($0)" } ?? ""
    let text =
      switch result {
      case .done: "done, \(known.bytes) bytes"
      case .failed: "failed\(reason)"
      case .cancelled: "cancelled"
      case .expired: "given up after too many attempts\(reason)"
      }
    let isTrouble = result == .failed || result == .expired
    write(
      "\(app): transfer \(id) \(text)", isTrouble ? .warning : .info, .transferEnded,
      fields(app, id) + [JournalEntry.Field("REFRESH_OUTCOME", result.rawValue)])
  }

  func dropped(wakeFor session: TransferSession) {
    write(
      "\(session.app): it could not be started for a week, so it does not learn that its transfer session "
        + "\"\(session.name)\" has ended; refreshctl history \(session.app) says why", .warning, .wakeDropped,
      [
        JournalEntry.Field("REFRESH_APP", session.app.description),
        JournalEntry.Field("REFRESH_SESSION", session.name),
      ])
  }

  func forgot(_ id: TransferID, _ problem: StoreError) {
    write(
      "cannot continue transfer \(id), which is now deleted; request it again: \(problem)", .error, nil,
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
