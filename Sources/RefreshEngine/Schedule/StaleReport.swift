// Reports data older than an app's `stale_after`, once each time.

extension Engine {
  /// Since when the data of an app is older than `stale_after`, boot clock.
  ///
  /// Nil while it is not, and for an app that need not be fresh: logged out, disabled, not configured, or without
  /// ``Policy/staleAfter``.
  public func staleSince(_ id: AppID, at now: Instant) -> Instant? {
    guard let index = apps.index(of: id), !apps[index].isOff else { return nil }
    return apps[index].turnsStale.flatMap { $0 <= now ? $0 : nil }
  }

  /// When the daemon reports that an app's data is stale, boot clock; nil if it has done so, or never will.
  ///
  /// After sleep or a start, the report waits until the backlog is done. A running refresh may make the data fresh.
  func reportsStale(_ app: App) -> Instant? {
    guard let turnsStale = app.turnsStale, !app.state.isStaleReported, !app.isOff, !isStopping, app.refreshing == nil
    else {
      return nil
    }
    return [turnsStale, settlingUntil, backlogUntil].compactMap(\.self).max()
  }

  func reportsStale(_ index: AppIndex) -> Instant? { reportsStale(apps[index]) }

  /// Reports stale data when due, and clears the report when the data is fresh again.
  mutating func noteStaleness(_ index: AppIndex, _ turn: inout Turn) {
    guard apps[index].state.isStaleReported || apps[index].policy?.staleAfter != nil, apps[index].policy != nil else {
      return
    }
    let id = apps.id(at: index)
    if apps[index].state.isStaleReported {
      guard apps[index].turnsStale.map({ $0 > turn.now }) ?? true else { return }
      apps[index].state.isStaleReported = false
    } else {
      guard let telling = reportsStale(index), telling <= turn.now, let ageBegan = apps[index].ageBegan else {
        return
      }
      apps[index].state.isStaleReported = true
      turn.decision.effects.append(.reportStale(makeRun(of: id, for: .notice), since: ageBegan))
    }
    turn.decision.changes.apps.insert(id)
  }
}

extension App {
  /// When the data reaches, or reached, the age `stale_after`, boot clock.
  var turnsStale: Instant? {
    guard let staleAfter = policy?.staleAfter, let ageBegan else { return nil }
    return ageBegan + staleAfter
  }
}
