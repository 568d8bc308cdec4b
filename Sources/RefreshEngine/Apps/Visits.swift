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

/// Where the user looks, as far as it concerns one app: its signals, its leases and what desktops show.
///
/// An app that sends no signals follows its presence on desktops. Signals win: after `foreground`, `background`,
/// `terminated` or a lease of `foreground`, the presence is ignored until desktops see the app start again.
struct Visits: Hashable, Sendable {
  /// A signal that is undone when the connection that holds it ends.
  private struct Lease: Hashable {
    let id: LeaseID
    let signal: Signal
  }

  /// How long a desktop must show an app in front before that counts as an opening: shorter is a user passing by.
  private static let shortestOpening = Duration.seconds(2)

  /// Whether the last signal without a lease, of `foreground` and `background`, was `foreground`.
  private(set) var isForeground = false
  /// Whether the app is logged out.
  private(set) var isLoggedOut = false
  /// Whether the user has ended the app and has not started it since: no push wakes such an app.
  private(set) var isTerminated = false
  /// Whether the app's owner was logged in at the sessions' last report; nil before the first.
  private(set) var isOwnerPresent: Bool?
  /// Whether a signal has set the phase since a desktop last saw the app start.
  ///
  /// If so, what desktops show is ignored.
  private var isPhaseReported = false
  /// The app as the desktops of its owner show it.
  private(set) var presence = Presence.unknown
  /// The leases of open connections.
  private var leases: [Lease] = []
  /// When a desktop first showed the app in front, boot clock, until that counts as an opening.
  private var shownAt: Instant?
  /// Whether the last opening in the history has not ended.
  private(set) var isOpen = false

  /// Makes it from the saved part; an app that a signal put into the foreground is still open.
  init(restoring state: AppState) {
    restore(state)
    isOpen = state.isForeground && !state.isLoggedOut
  }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) {
    (isForeground, isLoggedOut) = (state.isForeground, state.isLoggedOut)
    (isTerminated, isOwnerPresent) = (state.isTerminated, state.isOwnerPresent)
  }

  /// Writes the saved part.
  func save(in state: inout AppState) {
    (state.isForeground, state.isLoggedOut) = (isForeground, isLoggedOut)
    (state.isTerminated, state.isOwnerPresent) = (isTerminated, isOwnerPresent)
  }

  /// The phase of the app.
  var phase: Phase {
    if isLoggedOut { return .loggedOut }
    return isReportedForeground || presence == .front && !isPhaseReported ? .foreground : .background
  }

  /// Whether signals or leases say that the user looks at the app.
  var isReportedForeground: Bool { isForeground || leases.contains { $0.signal == .foreground } }

  /// Whether signals or leases say where the user looks, so that desktops do not count.
  var hasReportedPhase: Bool { isPhaseReported || isReportedForeground }

  /// When the presence counts as an opening, boot clock; nil while the app is not in front, or once it has counted.
  var countsAsOpenedAt: Instant? { shownAt.map { $0 + Self.shortestOpening } }

  // MARK: - Events

  /// Applies a signal, which holds until the next signal.
  mutating func apply(_ signal: Signal) {
    if signal.reportsPhase { isPhaseReported = true }
    switch signal {
    case .launched: isTerminated = false
    case .foreground: (isForeground, isTerminated) = (true, false)
    case .background: isForeground = false
    case .terminated: (isForeground, isTerminated) = (false, true)
    case .login: isLoggedOut = false
    case .logout: isLoggedOut = true
    }
  }

  /// Applies a signal, which holds until its lease ends.
  mutating func addLease(_ id: LeaseID, _ signal: Signal) {
    leases.append(Lease(id: id, signal: signal))
    isTerminated = false
    if signal.reportsPhase { isPhaseReported = true }
  }

  /// Undoes the signal of a lease.
  mutating func endLease(_ id: LeaseID) { leases.removeAll { $0.id == id } }

  /// Applies what the desktops show of the app; `isEnd` is whether its end there counts as `terminated`.
  mutating func show(_ presence: Presence, endTerminates isEnd: Bool) {
    let before = self.presence
    self.presence = presence
    if presence == .ended, before >= .running {
      isPhaseReported = false
      if isEnd { isTerminated = true }
    }
    if presence >= .running, before <= .ended {
      isTerminated = false
      if before == .ended { isPhaseReported = false }
    }
  }

  /// Logs the app in or out with its owner.
  mutating func setOwnerPresent(_ isPresent: Bool) { (isOwnerPresent, isLoggedOut) = (isPresent, !isPresent) }

  /// Logs a new app out until the sessions report that its owner is logged in.
  mutating func awaitOwner() { isLoggedOut = true }

  /// Forgets what desktops show, because no file names the app any more.
  mutating func retire() { (presence, shownAt) = (.unknown, nil) }

  /// Begins or ends the wait for an opening to count, after a cause of the phase has changed.
  mutating func followPhase(from before: Phase, at now: Instant) {
    let phase = phase
    if shownAt != nil, phase != .foreground || isReportedForeground { shownAt = nil }
    if phase == .foreground, before != .foreground, !isReportedForeground { shownAt = now }
  }

  /// Records that an opening has begun.
  mutating func beginOpening() { isOpen = true }

  /// Records that the opening has ended.
  mutating func endOpening() { isOpen = false }

  /// Ends the wait for an opening to count, if its time has come; returns when a desktop first showed it, boot clock.
  mutating func claimOpening(at now: Instant) -> Instant? {
    guard let end = countsAsOpenedAt, end <= now else { return nil }
    defer { shownAt = nil }
    return shownAt
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
