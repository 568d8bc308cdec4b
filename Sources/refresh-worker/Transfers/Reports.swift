import RefreshAPI
import Varlink

/// The connection that reports to the daemon: many reports in a call, one call at a time.
final class Reports {
  private let client: Client
  private let token: String
  private var queue = ReportQueue()

  init(client: Client, token: String) {
    self.client = client
    self.token = token
  }

  /// The descriptor for poll(2).
  var descriptor: Int32 { client.descriptor }
  /// Whether the daemon has saved every report.
  var isEmpty: Bool { queue.isEmpty }

  /// Adds a report to one of the next calls; `onSaved` is called once the report is in the daemon's store.
  func add(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    queue.add(report, onSaved: onSaved)
  }

  /// Whether the report of a transfer's end is waiting or has no reply yet.
  func hasEnd(of id: Int64) -> Bool { queue.hasEnd(of: id) }

  /// Sends the next call if reports wait and the last call has its reply.
  func send() throws(ClientError) {
    let reports = queue.nextCall()
    guard !reports.isEmpty else { return }
    try client.begin(WorkerInterface.Report.self, .init(token: token, reports: reports), more: false)
  }

  /// Reads the reply if it has arrived.
  func receiveAnswer() throws(ClientError) {
    guard try client.nextAnswer(of: WorkerInterface.Report.self) != nil else { return }
    for onSaved in queue.finishCall() { onSaved() }
  }
}

/// The reports that wait for a call to the daemon, and the size of each call.
///
/// Calls stay far below the protocol's limit on a message. New progress replaces progress that was not yet sent.
struct ReportQueue {
  private typealias QueuedReport = (report: Wire.TransferReport, onSaved: () -> Void)

  /// The most reports of one call.
  private static let mostReports = 100
  /// The approximate limit on the bytes of one call; a single report may be larger.
  private static let mostBytes = 256 << 10

  private var waiting: [QueuedReport] = []
  /// The reports of the last call while it has no reply.
  private var sent: [QueuedReport] = []
  /// The latest progress of each transfer.
  private var progress: [Int64: Wire.TransferReport] = [:]

  /// Whether the daemon has saved every report.
  var isEmpty: Bool { waiting.isEmpty && sent.isEmpty && progress.isEmpty }

  /// Adds a report; `onSaved` is called once the report is in the daemon's store, never for progress.
  mutating func add(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    guard report.kind != .progress else {
      progress[report.id] = report
      return
    }
    if report.kind == .ended { progress[report.id] = nil }
    waiting.append((report, onSaved))
  }

  /// Whether the report of a transfer's end is waiting or has no reply yet.
  func hasEnd(of id: Int64) -> Bool {
    (sent + waiting).contains { $0.report.id == id && $0.report.kind == .ended }
  }

  /// The reports of the next call; empty while the last call has no reply, or if no report waits.
  mutating func nextCall() -> [Wire.TransferReport] {
    guard sent.isEmpty else { return [] }
    var bytes = 0
    func fits(_ report: Wire.TransferReport, after count: Int) -> Bool {
      bytes += report.bytesAbout
      return count == 0 || count < Self.mostReports && bytes <= Self.mostBytes
    }
    while sent.count < waiting.count, fits(waiting[sent.count].report, after: sent.count) {
      sent.append(waiting[sent.count])
    }
    waiting.removeFirst(sent.count)
    for (id, report) in progress.sorted(by: { $0.key < $1.key }) where fits(report, after: sent.count) {
      sent.append((report, {}))
      progress[id] = nil
    }
    return sent.map(\.report)
  }

  /// Ends the last call, which has its reply, and returns the callbacks of its reports.
  mutating func finishCall() -> [() -> Void] {
    defer { sent = [] }
    return sent.map(\.onSaved)
  }
}

extension Wire.TransferReport {
  /// The approximate size of the report as JSON; escapes may double its texts.
  fileprivate var bytesAbout: Int {
    let texts = [message, sha256, resume?.url, resume?.etag, resume?.lastModified, resume?.date, resume?.tusURL]
    return 400 + 2 * texts.compactMap(\.?.utf8.count).reduce(0, +)
  }
}
