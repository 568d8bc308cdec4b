import RefreshConfig
import RefreshEngine

/// Which apps follow the sessions of their owners, and what they were told last (FEATURES A9).
struct Sessions {
  /// The users who have sessions; nil while nobody has said.
  var users: Set<UInt32>?
  /// Whether the app was logged in or out for its owner's sessions last; none before the first time.
  var isLoggedIn: [AppID: Bool] = [:]
}

extension Daemon {
  /// Whether sessions say when this app's owner logs in and out.
  private func follows(_ app: AppConfiguration) -> Bool {
    configuration.sessions == .logind && app.owner.isPerson
  }

  /// Whether anybody needs to know of sessions.
  var needsSessions: Bool { configuration.apps.contains(where: follows) }

  /// Logs apps in whose owners have a session now, and apps out whose owners have none any more and do not linger.
  ///
  /// Nil says that nobody asks for sessions any more: the apps stay as they are.
  ///
  /// Only what has changed for an app since it was told last: a person's own `login` and `logout` hold until then.
  func follow(_ users: Set<UInt32>?) {
    sessions.users = users
    guard let users else {
      sessions.isLoggedIn = [:]
      return
    }
    sessions.isLoggedIn = sessions.isLoggedIn.filter { configuration[$0.key].map(follows) ?? false }
    var absent: Set<UInt32> = []
    for app in configuration.apps where follows(app) {
      let hasSession = users.contains(app.owner.uid)
      guard sessions.isLoggedIn[app.id] != hasSession else { continue }
      if hasSession { tell(.login, app) } else { absent.insert(app.owner.uid) }
    }
    for user in absent.sorted() {
      conditions.askLingering(of: user) { lingers in if !lingers { self.logOut(user) } }
    }
  }

  /// Logs a user's apps out, unless the user has come back meanwhile.
  private func logOut(_ user: UInt32) {
    guard sessions.users?.contains(user) == false else { return }
    for app in configuration.apps where app.owner.uid == user && follows(app) && sessions.isLoggedIn[app.id] != false {
      tell(.logout, app)
    }
  }

  private func tell(_ signal: Signal, _ app: AppConfiguration) {
    sessions.isLoggedIn[app.id] = signal == .login
    changePhase(of: app.id) { handle(.signalled(app.id, signal)) }
    if signal == .logout { giveUpWaiting(for: app.id, .loggedOut) }
  }
}

extension Owner {
  /// Whether the user is a person, who logs in and out, and no account of the system's.
  ///
  /// The ranges are those of systemd (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems"): below 1000 the
  /// system's accounts, from 61184 on dynamic users and `nobody`.
  fileprivate var isPerson: Bool { uid >= 1000 && !(61_184...65_535).contains(uid) }
}
