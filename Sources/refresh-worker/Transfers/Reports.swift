import RefreshAPI
import Varlink

/// What the daemon is told, many reports in one call and one call at a time.
final class Reports {
  private let client: Client
  private let token: String
  private var queue = ReportQueue()

  init(client: Client, token: String) {
    self.client = client
    self.token = token
  }

  /// To wait on in poll(2).
  var descriptor: Int32 { client.descriptor }
  /// Whether everything is told and saved.
  var isEmpty: Bool { queue.isEmpty }

  /// Tells it with one of the next calls; `onSaved` is called once it is in the daemon's store.
  func add(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    queue.add(report, onSaved: onSaved)
  }

  /// Whether the end of a transfer is on its way to the daemon.
  func hasEnd(of id: Int64) -> Bool { queue.hasEnd(of: id) }

  /// Makes the next call if there is something to tell and the last one is answered.
  func send() throws(ClientError) {
    let reports = queue.takeCall()
    guard !reports.isEmpty else { return }
    try client.begin(
      WorkerInterface.Report.name, WorkerInterface.Report.Parameters(token: token, reports: reports), more: false)
  }

  /// Takes the answer if it has come.
  func takeAnswer() throws(ClientError) {
    guard try client.nextAnswer(as: WorkerInterface.Report.Reply.self) != nil else { return }
    for onSaved in queue.takeSaved() { onSaved() }
  }
}
