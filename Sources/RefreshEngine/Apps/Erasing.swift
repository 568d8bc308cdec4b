// Apps that are out of the configuration, and that somebody wants to be forgotten.

extension Engine {
  /// Whether an app is known although no file names it, and nothing of it runs or waits.
  public func mayErase(_ id: AppID) -> Bool {
    guard let app = apps[id], app.policy == nil, app.refreshing == nil else { return false }
    return app.state.seenAt != nil && app.pushes.isEmpty && app.drained.isEmpty && transfers.none(of: id)
  }

  /// Forgets everything about an app that is out of the configuration.
  mutating func erase(_ id: AppID, _ turn: inout Turn) {
    guard mayErase(id) else { return }
    apps[id]?.state = AppState()
    apps.forget(id)
    opened.remove(id)
    touch(id, &turn)
    turn.decision.erased.insert(id)
  }
}
