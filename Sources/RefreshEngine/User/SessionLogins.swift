/// Logs apps in and out with the sessions of their owners.
///
/// Only a change of sessions counts: a person's own `login` or `logout` holds until then.
public struct SessionLogins: Sendable {
  /// The users who have sessions; nil before the first answer.
  public private(set) var users: Set<UInt32>?
  /// Whether the sessions last logged an app in or out; no entry before the first time.
  private var isLoggedIn: [AppID: Bool] = [:]

  /// Makes logins before the first answer.
  public init() {}

  /// Whether a user is a person, who logs in and out, and not a system account.
  ///
  /// The ranges are systemd's (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems"): system accounts below 1000;
  /// dynamic users and `nobody` from 61184 on.
  public static func isPerson(_ uid: UInt32) -> Bool { uid >= 1000 && !(61_184...65_535).contains(uid) }

  /// Applies the present sessions; nil if sessions are no longer followed, and then apps stay as they are.
  ///
  /// - Parameters:
  ///   - users: the users who have sessions.
  ///   - apps: the owners of the apps that follow sessions.
  /// - Returns: the apps to log in, and the users without a session, whose apps are logged out unless they linger.
  public mutating func follow(
    _ users: Set<UInt32>?, apps: [(id: AppID, owner: UInt32)]
  ) -> (login: [AppID], absent: [UInt32]) {
    self.users = users
    guard let users else {
      isLoggedIn = [:]
      return ([], [])
    }
    let ids = Set(apps.map(\.id))
    isLoggedIn = isLoggedIn.filter { ids.contains($0.key) }
    var (login, absent): ([AppID], Set<UInt32>) = ([], [])
    for app in apps {
      let hasSession = users.contains(app.owner)
      guard isLoggedIn[app.id] != hasSession else { continue }
      if hasSession {
        isLoggedIn[app.id] = true
        login.append(app.id)
      } else {
        absent.insert(app.owner)
      }
    }
    return (login, absent.sorted())
  }

  /// The apps of a user to log out, who does not linger; none if the user has a session again.
  public mutating func logOut(_ user: UInt32, apps: [(id: AppID, owner: UInt32)]) -> [AppID] {
    guard users?.contains(user) == false else { return [] }
    let ids = apps.filter { $0.owner == user && isLoggedIn[$0.id] != false }.map(\.id)
    for id in ids { isLoggedIn[id] = false }
    return ids
  }
}
