import RefreshAPI
import RefreshConfig
import RefreshStore

extension TransferRequest {
  /// Why the app must not move this transfer under its present file; nil if it may.
  ///
  /// A transfer reads and writes files as the owner of its app. A former owner who requested it must not have another
  /// user's rights used for it.
  func refusal(by app: AppConfiguration) -> String? {
    guard let owner else {
      return "cannot tell who asked for it; ask for it again"
    }
    guard owner != app.owner.uid else { return nil }
    return "cannot go on: the app's owner was user \(owner) when it was asked for, and is \(app.owner.name) now; "
      + "ask for it again"
  }
}

extension TransferRunner {
  /// Stops and removes the transfers that run for a former owner of their app; the next start refuses them.
  func stopThoseOfFormerOwners(_ core: DaemonCore) {
    for id in workers.given {
      guard let transfer = self[id], core.engine.transferState(of: id)?.stage == .transferring,
        core.configuration[transfer.session.app].flatMap(transfer.request.refusal) != nil
      else { continue }
      _ = workers.stop(id, Wire.Order(kind: .discard, id: Int64(id.number), transfer: assignment(transfer)))
    }
  }
}
