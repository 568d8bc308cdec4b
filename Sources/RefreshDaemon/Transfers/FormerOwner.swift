import RefreshAPI
import RefreshConfig
import RefreshStore

extension TransferRequest {
  /// Why the app must not move this transfer, as its file is now; nil if it may.
  ///
  /// A transfer reads and writes files as the owner of its app. An earlier owner who asked for it must not have that done
  /// as another user.
  func refusal(by app: AppConfiguration) -> String? {
    guard let owner else {
      return "cannot tell who asked for it, because an earlier release stored it; ask for it again"
    }
    guard owner != app.owner.uid else { return nil }
    return "cannot go on: the app's owner was user \(owner) when it was asked for, and is \(app.owner.name) now; "
      + "ask for it again"
  }
}

extension TransferRunner {
  /// Has the transfers that run for a former owner of their app stopped and removed; the next start refuses them.
  func stopThoseOfFormerOwners(_ core: DaemonCore) {
    for id in workers.given {
      guard let transfer = self[id], core.engine.transferState(of: id)?.stage == .transferring,
        core.configuration[transfer.session.app].flatMap(transfer.request.refusal) != nil
      else { continue }
      _ = workers.stop(id, Wire.Order(kind: .discard, id: Int64(id.number), transfer: assignment(transfer)))
    }
  }
}
