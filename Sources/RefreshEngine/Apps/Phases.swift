/// The phase of an app, by its signals, its leases and what desktops show.
public enum Phase: String, Hashable, Sendable, CaseIterable {
  /// The user looks at it: the foreground interval holds.
  case foreground
  /// The user does not look at it: the background interval holds.
  case background
  /// Logged out: nothing is refreshed until `login`.
  case loggedOut = "logged-out"
}

// Signals and leases, and what a change of phase means.

extension Engine {
  /// Applies a signal, which holds until the next signal.
  mutating func applySignal(_ id: AppID, _ signal: Signal, _ turn: inout Turn) {
    guard phase(of: id) != nil else { return }
    changePhase(id, &turn) { app in
      if signal.tellsPhase { app.tellsPhase = true }
      switch signal {
      case .launched: app.state.isTerminated = false
      case .foreground: (app.state.isForeground, app.state.isTerminated) = (true, false)
      case .background: app.state.isForeground = false
      case .terminated: (app.state.isForeground, app.state.isTerminated) = (false, true)
      case .login: app.state.isLoggedOut = false
      case .logout: app.state.isLoggedOut = true
      }
    }
  }

  /// Applies a signal, which holds until its lease ends.
  mutating func addLease(_ lease: LeaseID, _ id: AppID, _ signal: Signal, _ turn: inout Turn) {
    guard phase(of: id) != nil else { return }
    changePhase(id, &turn) { app in
      app.leases.append(App.Lease(id: lease, signal: signal))
      app.state.isTerminated = false
      if signal.tellsPhase { app.tellsPhase = true }
    }
  }

  /// Undoes the signal of a lease.
  mutating func endLease(_ lease: LeaseID, _ id: AppID, _ turn: inout Turn) {
    guard apps[id] != nil else { return }
    changePhase(id, &turn) { app in app.leases.removeAll { $0.id == lease } }
  }

  /// Notes whether a process of the app serves its refreshes.
  mutating func attach(_ id: AppID, _ isAttached: Bool, _ turn: inout Turn) {
    guard apps[id] != nil else { return }
    apps[id]?.isAttached = isAttached
    // At its end the daemon closes the connection itself.
    if apps[id]?.state.wasAttached != isAttached, isAttached || !isStopping {
      apps[id]?.state.wasAttached = isAttached
      turn.decision.changes.apps.insert(id)
    }
    touch(id, &turn)
  }

  /// Changes a cause of the phase, and applies the new phase.
  ///
  /// `lastStart` stays: the next start is one new interval after it.
  mutating func changePhase(_ id: AppID, _ turn: inout Turn, change: (inout App) -> Void) {
    guard let index = apps.index(of: id) else { return }
    var app = apps[index]
    let (phase, state) = (app.phase, app.state)
    change(&app)
    if app.phase != phase {
      if app.isRetryForUser { app.isRetryForUser = false }
      if app.phase == .loggedOut || app.state.request?.trigger.endsWithPhase == true { app.dropRequest(at: turn.now) }
      if app.phase == .foreground { enterForeground(&app, at: turn.now) }
    }
    if app.openedAt != nil, app.phase != .foreground || app.isToldForeground { app.openedAt = nil }
    if app.phase == .foreground, phase != .foreground, !app.isToldForeground { app.openedAt = turn.now }
    if app.phase != .foreground, app.isOpen {
      app.isOpen = false
      turn.decision.changes.history.openings.append(Opening(app: id, at: turn.now, change: .ended))
    }
    apps[index] = app
    if app.phase == .foreground, !app.isOpen, app.isToldForeground {
      learnOpening(of: id, &turn)
      app = apps[index]
    }
    if app.phase == .loggedOut { stop(id, .logout, &turn) }
    if app.state.isLoggedOut != state.isLoggedOut { transfers.isTouched = true }
    touch(id, &turn)
    if app.state != state { turn.decision.changes.apps.insert(id) }
  }

  /// Applies `on_foreground` of the app's file: the user is about to see the data.
  ///
  /// With `stale` the age of the data counts, not the time since the last try. But no try comes sooner than the foreground
  /// floor after the last, however often the app comes and goes. A running refresh serves too.
  private func enterForeground(_ app: inout App, at now: Instant) {
    guard let policy = app.policy else { return }
    let spacing = app.spacing(in: .foreground, limits: limits)
    switch policy.onForeground {
    case .always:
      app.ask(.foreground, at: now)
    case .stale:
      guard let spacing, app.refreshing == nil else { return }
      let isStale = app.state.freshAt.map { $0 + spacing <= now } ?? true
      let mayTry = app.state.lastStart.map { $0 + limits.foregroundFloor <= now } ?? true
      if isStale && mayTry { app.ask(.foreground, at: now) }
    case .never:
      guard let spacing else { return }
      let isOverdue = app.state.lastStart.map { $0 + spacing <= now } ?? true
      if isOverdue { app.ask(.interval, at: max(now + spacing, app.refusedUntil ?? now)) }
    }
  }
}
