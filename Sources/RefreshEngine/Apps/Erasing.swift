// Erases apps that are out of the configuration: at a user's request, or after the retention.

extension AppState {
  /// How long an app stays known that is out of the configuration.
  static let retention = Duration.hours(24 * 90)

  /// Whether the app has been out of the configuration for 90 days (boot clock), and nothing of it runs.
  public func isOutdated(at now: Instant) -> Bool {
    guard running == nil, let waiting, waiting.holds.contains(.notConfigured) else { return false }
    return waiting.since + Self.retention <= now
  }
}

extension Engine {
  /// Forgets the apps that have been out of the configuration for the retention, each night and at each reload.
  mutating func eraseOutdated(_ turn: inout Turn) {
    for index in apps.indexes where apps[index].policy == nil && apps[index].state.isOutdated(at: turn.now) {
      erase(apps.id(at: index), &turn)
    }
  }

  /// Whether an app is known although no file names it, and nothing of it runs: neither a refresh nor a transfer.
  public func mayErase(_ id: AppID) -> Bool {
    guard let index = apps.index(of: id), apps[index].policy == nil, apps[index].refreshing == nil else { return false }
    return apps[index].state.seenAt != nil && !transfers.hasOpen(of: id)
  }

  /// Forgets everything about an app that is out of the configuration, also its waiting pushes and sessions.
  ///
  /// A second such event deletes its ended transfers, once the disk has erased the app. Until then the app can still learn
  /// of them, if the first event is taken back.
  mutating func erase(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    if apps[index].policy == nil, apps[index].state.seenAt == nil { return forgetEnded(of: index, &turn) }
    guard mayErase(id) else { return }
    for push in apps[index].pushes { turn.decision.changes.pushes[push.id] = .gone }
    apps[index].pushes = []
    apps[index].state = AppState()
    apps.forget(index)
    opened.remove(id)
    turn.touch(index)
    turn.decision.changes.erase(id)
  }

  private mutating func forgetEnded(of index: AppIndex, _ turn: inout Turn) {
    let id = apps.id(at: index)
    apps[index].drained = []
    for transfer in transfers.ids where transfers[transfer]?.policy.app == id && transfers[transfer]?.endedAt != nil {
      transfers[transfer] = nil
      turn.decision.changes.transfers.insert(transfer)
    }
  }
}
