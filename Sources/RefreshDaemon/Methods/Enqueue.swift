import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// How many transfers the queue holds, those that have ended and are still shown included.
  private static let queueLimit = 100_000
  /// How many of them one app may have, so that no app takes the whole queue.
  private static let appLimit = 20_000
  /// How many one call may ask for, or steer: the others wait meanwhile.
  static let callLimit = 1_000

  /// Takes transfers of an app into the queue, and answers when they are on disk (FEATURES F1).
  ///
  /// They are saved first and run after that: what cannot be stored never was.
  func enqueue(_ call: Call<TransfersInterface.Enqueue.Parameters>) {
    guard let app = app(named: call.parameters.app, forTransfersOf: call) else { return }
    // Files are read and written as the owner: nobody else may choose which.
    guard [0, app.owner.uid].contains(call.peer.uid) else {
      return call.fail(
        RefreshdInterface.NotAllowed(
          app: call.parameters.app, remedy: "Ask as \(app.owner.name), whose files are read and written, or as root."))
    }
    guard (1...Self.callLimit).contains(call.parameters.transfers.count) else {
      return call.fail(InvalidParameter(parameter: "transfers"))
    }
    guard transfers.all.count + call.parameters.transfers.count <= Self.queueLimit else {
      return call.fail(TransfersInterface.QueueFull(limit: Self.queueLimit))
    }
    // Counted only where it may be so: the queue may be long.
    let isOfApp = { (id: TransferID) in self.engine.transferState(of: id)?.policy.app == app.id }
    let before = transfers.all.count < Self.appLimit / 2 ? 0 : transfers.all.keys.count(where: isOfApp)
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
    take(asked, of: app.id, for: call)
  }

  private func take(
    _ asked: [TransferOrder], of app: AppID, for call: Call<TransfersInterface.Enqueue.Parameters>
  ) {
    let now = readClocks()
    let stored = asked.map { order in
      (
        transfers.makeID(),
        StoredTransfer(state: TransferState(policy: order.policy(of: app, at: now)), request: order.request)
      )
    }
    for (id, transfer) in stored {
      transfers.add(id, transfer)
      pending.enqueued[id] = transfer
    }
    pending.promises.append { problem in
      if let problem {
        for (id, _) in stored { self.transfers[id] = nil }
        self.pending.transfersRemoved.formUnion(stored.map(\.0))
        return call.fail(RefreshdInterface.NotStored(problem: problem.description))
      }
      for (id, transfer) in stored { self.journal.enqueued(id, of: app, transfer.request) }
      self.handle(.enqueued(stored.map { Enqueued(id: $0, policy: $1.state.policy) }))
      call.reply(TransfersInterface.Enqueue.Reply(ids: stored.map { Int64($0.0.number) }))
    }
    commitSoon()
  }
}
