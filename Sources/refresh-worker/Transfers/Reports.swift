import RefreshAPI
import Varlink

/// What the daemon is told, many reports in one call and one call at a time.
final class Reports {
  private let client: Client
  private let token: String
  private var waiting: [(report: Wire.TransferReport, onSaved: () -> Void)] = []
  private var told: [(report: Wire.TransferReport, onSaved: () -> Void)] = []

  init(client: Client, token: String) {
    self.client = client
    self.token = token
  }

  /// To wait on in poll(2).
  var descriptor: Int32 { client.descriptor }
  /// Whether everything is told and saved.
  var isEmpty: Bool { waiting.isEmpty && told.isEmpty }

  /// Tells it with the next call; `onSaved` is called once it is in the daemon's store.
  func add(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    waiting.append((report, onSaved))
  }

  /// Makes the next call if there is something to tell and the last one is answered.
  func send() throws(ClientError) {
    guard told.isEmpty, !waiting.isEmpty else { return }
    swap(&told, &waiting)
    try client.begin(
      WorkerInterface.Report.name, WorkerInterface.Report.Parameters(token: token, reports: told.map(\.report)),
      more: false)
  }

  /// Takes the answer if it has come.
  func takeAnswer() throws(ClientError) {
    guard try client.nextAnswer(as: WorkerInterface.Report.Reply.self) != nil else { return }
    let saved = told
    told = []
    for (_, onSaved) in saved { onSaved() }
  }
}
