import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells which transfers of the token's app download to a path, and which of them from a URL.
  func findDownloads(_ call: Call<WorkerInterface.Downloads.Parameters>) {
    let asked = call.parameters
    guard let app = runner.refreshes.task(of: asked.token, calledBy: call.peer)?.running.app else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    var (same, others): (Int64?, [Int64]) = (nil, [])
    for id in transfers.ids(of: app.id, for: call.peer) {
      guard let request = transfers[id]?.request, request.direction == .download, request.path == asked.path,
        request.refusal(by: app) == nil, isWanted(id)
      else { continue }
      if request.url == asked.url { same = same ?? Int64(id.number) } else { others.append(Int64(id.number)) }
    }
    call.reply(WorkerInterface.Downloads.Reply(id: same, ids: others))
  }

  /// Whether a transfer has not ended and is not being removed.
  private func isWanted(_ id: TransferID) -> Bool {
    switch core.engine.transferState(of: id)?.stage {
    case nil, .ended: false
    case .stopping(let reason): !reason.discards
    case .waiting, .transferring, .paused, .noSpace: true
    }
  }
}
