import RefreshConfig
import RefreshEngine

/// Tells the engine whose owners are there, if the configuration has apps log in and out with sessions.
final class SessionFollower {
  private unowned let core: DaemonCore
  private let audience: Audience
  private let conditions: any MachineConditions
  /// The users who have sessions; nil before logind's first answer, and while no app follows sessions.
  private var users: Set<UInt32>?

  init(_ core: DaemonCore, _ audience: Audience, _ conditions: any MachineConditions) {
    (self.core, self.audience, self.conditions) = (core, audience, conditions)
  }

  /// Applies the known sessions under a new configuration.
  ///
  /// If no app follows sessions any more, all apps stay as they are.
  func reconfigured() {
    follow(apps.isEmpty ? nil : users)
  }

  /// Logs in apps whose owners have got a session, and logs out apps whose owners have lost it and do not linger.
  func follow(_ users: Set<UInt32>?) {
    self.users = users
    guard let users else { return }
    var absent: Set<UInt32> = []
    for app in apps {
      if users.contains(app.owner.uid) {
        tell(app.id, isPresent: true)
      } else if core.engine.state(of: app.id)?.isOwnerPresent != false {
        absent.insert(app.owner.uid)
      }
    }
    for user in absent.sorted() {
      conditions.askLingering(of: user) { [self] lingers in
        // The user may have come back meanwhile.
        guard self.users?.contains(user) == false else { return }
        for app in apps where app.owner.uid == user { tell(app.id, isPresent: lingers) }
      }
    }
  }

  /// Whether the next session of its owner logs an app in: it follows sessions, and they do not say that the owner is there.
  func awaitsSession(_ app: AppConfiguration) -> Bool {
    core.engine.limits.followsSessions(app.policy) && core.engine.state(of: app.id)?.isOwnerPresent != true
  }

  /// The apps that follow sessions.
  private var apps: [AppConfiguration] {
    core.configuration.apps.filter { core.engine.limits.followsSessions($0.policy) }
  }

  private func tell(_ app: AppID, isPresent: Bool) {
    guard core.engine.state(of: app)?.isOwnerPresent != isPresent else { return }
    core.handle(.ownerPresent(app, isPresent))
    if !isPresent { audience.runCalls.giveUp(app, .loggedOut) }
  }
}
