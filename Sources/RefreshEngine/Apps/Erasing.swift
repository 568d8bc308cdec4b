// Apps that are out of the configuration, and that somebody wants to be forgotten.

extension Engine {
  /// Whether an app is known although no file names it, and nothing of it runs: neither a refresh nor a transfer.
  public func mayErase(_ id: AppID) -> Bool {
    guard let app = apps[id], app.policy == nil, app.refreshing == nil else { return false }
    return app.state.seenAt != nil && !transfers.hasOpen(of: id)
  }

  /// Forgets everything about an app that is out of the configuration, also what waits to be told to it.
  ///
  /// Its ended transfers go with a second such event, once the disk has forgotten the app: until then they can still be
  /// told, if the first event is taken back.
  mutating func erase(_ id: AppID, _ turn: inout Turn) {
    if let app = apps[id], app.policy == nil, app.state.seenAt == nil { return forgetEnded(of: id, &turn) }
    guard mayErase(id) else { return }
    for push in pushes(of: id) { turn.decision.pushes[push.id] = .gone }
    apps[id]?.pushes = []
    apps[id]?.state = AppState()
    apps.forget(id)
    opened.remove(id)
    touch(id, &turn)
    turn.decision.erased.insert(id)
  }

  private mutating func forgetEnded(of id: AppID, _ turn: inout Turn) {
    apps[id]?.drained = []
    for transfer in transfers.ids where transfers[transfer]?.policy.app == id && transfers[transfer]?.endedAt != nil {
      transfers[transfer] = nil
      turn.decision.transfersRemoved.insert(transfer)
    }
  }
}
