import RefreshConfig
import RefreshEngine

/// Logs apps in and out with the sessions of their owners, if the configuration says so.
final class SessionFollower {
  private unowned let core: DaemonCore
  private let audience: Audience
  private let conditions: any MachineConditions
  /// The users who have sessions; nil while nobody has said.
  private var users: Set<UInt32>?
  /// The last signal that each app got for its owner's sessions; none before the first.
  private var isLoggedIn: [AppID: Bool] = [:]

  init(_ core: DaemonCore, _ audience: Audience, _ conditions: any MachineConditions) {
    (self.core, self.audience, self.conditions) = (core, audience, conditions)
  }

  /// Follows the sessions that are known under a new configuration.
  ///
  /// If no app follows sessions any more, all apps stay as they are.
  func reconfigured() {
    let isNeeded = core.configuration.apps.contains(where: core.configuration.followsSessions)
    if isNeeded, let users { return follow(users) }
    (users, isLoggedIn) = (nil, [:])
  }

  /// Logs apps in whose owners have a session now, and apps out whose owners have none any more and do not linger.
  ///
  /// An app gets a signal only if its owner's sessions have changed since the last; the user's own `login` and `logout`
  /// hold until then.
  func follow(_ users: Set<UInt32>) {
    self.users = users
    let configuration = core.configuration
    isLoggedIn = isLoggedIn.filter { configuration[$0.key].map(configuration.followsSessions) ?? false }
    var absent: Set<UInt32> = []
    for app in configuration.apps where configuration.followsSessions(app) {
      let hasSession = users.contains(app.owner.uid)
      guard isLoggedIn[app.id] != hasSession else { continue }
      if hasSession { send(.login, app) } else { absent.insert(app.owner.uid) }
    }
    for user in absent.sorted() {
      conditions.askLingering(of: user) { lingers in if !lingers { self.logOut(user) } }
    }
  }

  /// Logs a user's apps out, unless the user has come back meanwhile.
  private func logOut(_ user: UInt32) {
    guard users?.contains(user) == false else { return }
    for app in core.configuration.apps
    where app.owner.uid == user && core.configuration.followsSessions(app) && isLoggedIn[app.id] != false {
      send(.logout, app)
    }
  }

  private func send(_ signal: Signal, _ app: AppConfiguration) {
    isLoggedIn[app.id] = signal == .login
    audience.changePhase(of: app.id) { core.handle(.signalled(app.id, signal)) }
    if signal == .logout { audience.runCalls.giveUp(app.id, .loggedOut) }
  }
}

extension ConfigurationInForce {
  /// Whether sessions log this app in and out.
  func followsSessions(_ app: AppConfiguration) -> Bool { sessions == .logind && app.owner.isPerson }
}

extension Owner {
  /// Whether the user is a person, who logs in and out, and not an account of the system.
  ///
  /// The ranges are those of systemd (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems"): system accounts
  /// are below 1000, dynamic users and `nobody` from 61184 on.
  fileprivate var isPerson: Bool { uid >= 1000 && !(61_184...65_535).contains(uid) }
}
