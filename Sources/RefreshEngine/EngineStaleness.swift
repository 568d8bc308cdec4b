// The freshness objective: data older than an app's `stale_after` is told of, once for each time (FEATURES D8).

extension Engine {
  /// Since when the data of an app is older than its file wants it to be, boot clock.
  ///
  /// Nil while it is not, and for an app that nobody expects to be fresh: logged out, disabled, not configured, or
  /// without ``Policy/staleAfter``.
  public func staleSince(_ id: AppID, at now: Instant) -> Instant? {
    guard let app = apps[id], !app.isOff else { return nil }
    return app.turnsStale.flatMap { $0 <= now ? $0 : nil }
  }

  /// When it is told that an app's data is stale, boot clock; nil when it is told already, or never will be.
  ///
  /// What was missed while the machine slept, or the daemon was off, is caught up first, and a refresh that is running
  /// may be what the data waits for.
  func tellsStale(_ app: App) -> Instant? {
    guard let turnsStale = app.turnsStale, !app.state.isStaleTold, !app.isOff, !isStopping, app.refreshing == nil else {
      return nil
    }
    return [turnsStale, settlingUntil, backlogUntil].compactMap(\.self).max()
  }

  func tellsStale(_ place: Place) -> Instant? { tellsStale(apps[place]) }

  /// Tells that the data is stale when its time has come, and forgets that it did when the data is fresh again.
  mutating func noteStaleness(_ place: Place, _ turn: inout Turn) {
    guard apps[place].state.isStaleTold || apps[place].policy?.staleAfter != nil, apps[place].policy != nil else {
      return
    }
    let id = apps.id(at: place)
    if apps[place].state.isStaleTold {
      guard apps[place].turnsStale.map({ $0 > turn.now }) ?? true else { return }
      apps[place].state.isStaleTold = false
    } else {
      guard let telling = tellsStale(place), telling <= turn.now, let ageBegan = apps[place].ageBegan else {
        return
      }
      apps[place].state.isStaleTold = true
      turn.decision.effects.append(.tellStale(makeID(), id, since: ageBegan))
    }
    turn.decision.changed.insert(id)
  }
}

extension App {
  /// When its data is, or was, as old as its file wants to be told of, boot clock.
  fileprivate var turnsStale: Instant? {
    guard let staleAfter = policy?.staleAfter, let ageBegan else { return nil }
    return ageBegan + staleAfter
  }
}
