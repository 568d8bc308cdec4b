import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// How many transfers one call may name, because other callers wait meanwhile.
  static let callLimit = 1_000

  /// Adds transfers of an app to the queue, and answers when they are on the disk.
  func enqueue(_ call: Call<TransfersInterface.Enqueue.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    // Files are read and written as the owner, so only the owner may choose them.
    guard [0, app.owner.uid].contains(call.peer.uid) else {
      return call.fail(
        RefreshdInterface.NotAllowed(
          app: call.parameters.app, remedy: "Ask as \(app.owner.name), whose files are read and written, or as root."))
    }
    guard (1...Self.callLimit).contains(call.parameters.transfers.count) else {
      return call.fail(InvalidParameter(parameter: "transfers"))
    }
    var asked: [CheckedTransfer] = []
    for (index, request) in call.parameters.transfers.enumerated() {
      do throws(CheckedTransfer.Refusal) { asked.append(try CheckedTransfer(request)) } catch {
        return call.fail(
          TransfersInterface.InvalidRequest(
            index: Int64(index), field: error.field, reason: error.reason, remedy: error.remedy))
      }
    }
    if let full = transfers.exceeded(by: asked, of: app) { return call.fail(full) }
    transfers.enqueue(asked, of: app.id) { problem, ids in
      call.conclude(problem) { TransfersInterface.Enqueue.Reply(ids: ids.map { Int64($0.number) }) }
    }
  }
}
