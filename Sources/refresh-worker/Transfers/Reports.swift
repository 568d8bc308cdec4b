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
