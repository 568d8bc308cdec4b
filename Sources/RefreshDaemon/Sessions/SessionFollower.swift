import RefreshConfig
import RefreshEngine

/// Logs apps in and out with the sessions of their owners, if the configuration asks for it.
final class SessionFollower {
  private unowned let core: DaemonCore
  private let audience: Audience
  private let conditions: any MachineConditions
  private var logins = SessionLogins()

  init(_ core: DaemonCore, _ audience: Audience, _ conditions: any MachineConditions) {
    (self.core, self.audience, self.conditions) = (core, audience, conditions)
  }

  /// Applies the known sessions under a new configuration.
  ///
  /// If no app follows sessions any more, all apps stay as they are.
  func reconfigured() {
    follow(apps.isEmpty ? nil : logins.users)
  }

  /// Logs in apps whose owners have got a session, and logs out apps whose owners have lost it and do not linger.
  func follow(_ users: Set<UInt32>?) {
    let (login, absent) = logins.follow(users, apps: apps)
    for app in login { send(.login, app) }
    for user in absent {
      conditions.askLingering(of: user) { [self] lingers in
        if !lingers { for app in logins.logOut(user, apps: apps) { send(.logout, app) } }
      }
    }
  }

  /// Whether the next session of its owner logs an app in: it follows sessions, and its owner has none.
  func awaitsSession(_ app: AppConfiguration) -> Bool {
    core.configuration.followsSessions(app) && logins.users?.contains(app.owner.uid) == false
  }

  /// The owners of the apps that follow sessions.
  private var apps: [(id: AppID, owner: UInt32)] {
    core.configuration.apps.filter(core.configuration.followsSessions).map { ($0.id, $0.owner.uid) }
  }

  private func send(_ signal: Signal, _ app: AppID) {
    audience.changePhase(of: app) { core.handle(.signalled(app, signal)) }
    if signal == .logout { audience.runCalls.giveUp(app, .loggedOut) }
  }
}

extension ConfigurationInForce {
  /// Whether sessions log this app in and out; false for a held app, whose owner may be unknown.
  func followsSessions(_ app: AppConfiguration) -> Bool {
    sessions == .logind && SessionLogins.isPerson(app.owner.uid) && app.policy.unusable == nil
  }
}
