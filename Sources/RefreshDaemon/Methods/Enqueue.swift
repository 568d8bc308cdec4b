import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// How many transfers the queue holds, including ended ones that are still shown.
  private static let queueLimit = 100_000
  /// How many transfers one app may have, so that no app fills the whole queue.
  private static let appLimit = 20_000
  /// How many transfers one call may name, because other callers wait meanwhile.
  static let callLimit = 1_000

  /// Puts transfers of an app into the queue, and answers when they are on the disk.
  func enqueue(_ call: Call<TransfersInterface.Enqueue.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    // Files are read and written as the owner, so nobody else may choose them.
    guard [0, app.owner.uid].contains(call.peer.uid) else {
      return call.fail(
        RefreshdInterface.NotAllowed(
          app: call.parameters.app, remedy: "Ask as \(app.owner.name), whose files are read and written, or as root."))
    }
    guard (1...Self.callLimit).contains(call.parameters.transfers.count) else {
      return call.fail(InvalidParameter(parameter: "transfers"))
    }
    guard transfers.count + call.parameters.transfers.count <= Self.queueLimit else {
      return call.fail(TransfersInterface.QueueFull(limit: Self.queueLimit))
    }
    // The queue may be long, so it is counted only if the limit may be reached.
    let before = transfers.count < Self.appLimit / 2 ? 0 : transfers.count(of: app.id)
    guard before + call.parameters.transfers.count <= Self.appLimit else {
      return call.fail(TransfersInterface.QueueFull(limit: Self.appLimit))
    }
    var asked: [TransferOrder] = []
    for (index, request) in call.parameters.transfers.enumerated() {
      do throws(TransferOrder.Problem) { asked.append(try TransferOrder(request)) } catch {
        return call.fail(
          TransfersInterface.InvalidRequest(
            index: Int64(index), field: error.field, reason: error.reason, remedy: error.remedy))
      }
    }
    transfers.enqueue(asked, of: app.id) { problem, ids in
      if let problem { return call.fail(RefreshdInterface.NotStored(problem: problem.description)) }
      call.reply(TransfersInterface.Enqueue.Reply(ids: ids.map { Int64($0.number) }))
    }
  }
}
