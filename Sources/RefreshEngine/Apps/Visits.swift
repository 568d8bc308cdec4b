/// A lifecycle message about an app.
///
/// Signals may come twice, late or out of order: a repeated signal changes nothing and adds no refresh.
public enum Signal: String, Hashable, Sendable, CaseIterable {
  /// The app has a process now. It is in the background until it says `foreground`.
  case launched
  /// The user looks at the app.
  case foreground
  /// The user no longer looks at the app.
  case background
  /// The user has ended the app: it is in the background, and no push wakes it before its next start.
  case terminated
  /// The app's account may be refreshed (again).
  case login
  /// The app is not refreshed until `login`.
  case logout

  /// Whether the signal says where the user looks, so that desktops do not count.
  var reportsPhase: Bool { self == .foreground || self == .background || self == .terminated }
}

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
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    changePhase(index, &turn) { app in
      if signal.reportsPhase { app.isPhaseReported = true }
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
    guard let index = apps.index(of: id), apps[index].policy != nil else { return }
    changePhase(index, &turn) { app in
      app.leases.append(App.Lease(id: lease, signal: signal))
      app.state.isTerminated = false
      if signal.reportsPhase { app.isPhaseReported = true }
    }
  }

  /// Undoes the signal of a lease.
  mutating func endLease(_ lease: LeaseID, _ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    changePhase(index, &turn) { app in app.leases.removeAll { $0.id == lease } }
  }

  /// Updates whether a process of the app serves its refreshes.
  mutating func attach(_ id: AppID, _ isAttached: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    apps[index].isAttached = isAttached
    // At its end the daemon closes the connection itself.
    if apps[index].state.wasAttached != isAttached, isAttached || !judge.life.isStopping {
      apps[index].state.wasAttached = isAttached
      turn.decision.changes.apps.insert(id)
    }
    turn.touch(index)
  }

  /// Changes a cause of the phase, and applies the new phase.
  ///
  /// `lastStart` stays: the next start is one new interval after it.
  mutating func changePhase(_ index: AppIndex, _ turn: inout Turn, change: (inout App) -> Void) {
    let (before, state) = (apps[index].phase, apps[index].state)
    change(&apps[index])
    apps[index].changePhase(from: before, judge.limits, at: turn.now)
    let phase = apps[index].phase
    if phase != .foreground, apps[index].isOpen {
      apps[index].isOpen = false
      turn.decision.changes.history.openings.append(Opening(app: apps.id(at: index), at: turn.now, change: .ended))
    }
    if phase == .foreground, !apps[index].isOpen, apps[index].isReportedForeground { learnOpening(of: index, &turn) }
    let isChanged = apps[index].state != state
    if phase == .loggedOut { stop(index, .logout, &turn) }
    if apps[index].state.isLoggedOut != state.isLoggedOut { transfers.touch() }
    turn.touch(index)
    if isChanged { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }
}

extension App {
  /// Follows a change of a cause of the phase.
  fileprivate mutating func changePhase(from before: Phase, _ limits: Limits, at now: Instant) {
    let phase = phase
    if phase != before {
      isRetryForUser = false
      if phase == .loggedOut || state.request?.trigger.endsWithPhase == true { dropRequest(at: now) }
      if phase == .foreground { enterForeground(limits, at: now) }
    }
    if openedAt != nil, phase != .foreground || isReportedForeground { openedAt = nil }
    if phase == .foreground, before != .foreground, !isReportedForeground { openedAt = now }
  }

  /// Applies `on_foreground` of the app's file: the user is about to see the data.
  ///
  /// With `stale` the age of the data counts, not the time since the last try. But no try comes sooner than the foreground
  /// floor after the last, however often the app comes and goes. A running refresh serves too.
  private mutating func enterForeground(_ limits: Limits, at now: Instant) {
    guard let policy else { return }
    let spacing = spacing(in: .foreground, limits: limits)
    switch policy.onForeground {
    case .always:
      ask(.foreground, at: now)
    case .stale:
      guard let spacing, refreshing == nil else { return }
      let isStale = state.freshAt.map { $0 + spacing <= now } ?? true
      let mayTry = state.lastStart.map { $0 + limits.foregroundFloor <= now } ?? true
      if isStale && mayTry { ask(.foreground, at: now) }
    case .never:
      guard let spacing else { return }
      let isOverdue = state.lastStart.map { $0 + spacing <= now } ?? true
      if isOverdue { ask(.interval, at: max(now + spacing, refusedUntil ?? now)) }
    }
  }
}

/// An app as the desktops of its owner show it, all of them together.
public enum Presence: UInt8, Hashable, Sendable, CaseIterable, Comparable {
  /// No desktop has said anything about the app.
  case unknown
  /// It does not run.
  case ended
  /// It runs, and the user does not look at it.
  case running
  /// The user looks at it.
  case front

  /// Whether the first presence is less visible than the second.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

// An app that sends no signals follows its presence on desktops. Signals win: after `foreground`, `background`,
// `terminated` or a lease of `foreground`, the presence is ignored until desktops see the app start again.

extension App {
  /// How long a desktop must show an app in front before that counts as an opening: shorter is a user passing by.
  private static let shortestOpening = Duration.seconds(2)

  /// When the presence counts as an opening, boot clock; nil while the app is not in front, or once it has counted.
  var countsAsOpenedAt: Instant? { openedAt.map { $0 + Self.shortestOpening } }
}

extension Engine {
  /// Applies the presence of an app on desktops.
  mutating func applyPresence(_ id: AppID, _ presence: Presence, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].presence != presence else { return }
    changePhase(index, &turn) { app in
      let before = app.presence
      app.presence = presence
      if presence == .ended, before >= .running {
        app.isPhaseReported = false
        if app.policy?.isTerminatedOnExit == true { app.state.isTerminated = true }
      }
      if presence >= .running, before <= .ended {
        app.state.isTerminated = false
        if before == .ended { app.isPhaseReported = false }
      }
    }
  }

  /// Learns an opening that a desktop has shown for long enough.
  mutating func recordOpening(_ index: AppIndex, _ turn: inout Turn) {
    guard let end = apps[index].countsAsOpenedAt, end <= turn.now else { return }
    let begun = apps[index].openedAt
    apps[index].openedAt = nil
    learnOpening(of: index, observedAt: begun, &turn)
  }
}

// Apps log in and out with the sessions of their owners, if the administrator wants it.

extension Limits {
  /// Whether sessions log the apps of a policy in and out; false for a held app, whose owner may be unknown.
  public func followsSessions(_ policy: Policy) -> Bool {
    followsSessions && Self.isPerson(policy.owner) && policy.unusable == nil
  }

  /// Whether a user is a person, who logs in and out, and not a system account.
  ///
  /// The ranges are systemd's (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems"): system accounts below 1000;
  /// dynamic users and `nobody` from 61184 on.
  private static func isPerson(_ uid: UInt32) -> Bool { uid >= 1000 && !(61_184...65_535).contains(uid) }
}

extension Engine {
  /// Applies what the sessions say of an app's owner.
  ///
  /// Only a change counts, and what they said is stored: a person's own `login` or `logout` holds until the next change,
  /// also over a restart.
  mutating func applyOwner(_ id: AppID, _ isPresent: Bool, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].state.isOwnerPresent != isPresent
    else { return }
    changePhase(index, &turn) { app in
      (app.state.isOwnerPresent, app.state.isLoggedOut) = (isPresent, !isPresent)
    }
  }
}
