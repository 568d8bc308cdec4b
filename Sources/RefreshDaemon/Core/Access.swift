import Glibc
import RefreshConfig
import Varlink

/// Who may ask what, by the credentials of the socket (DESIGN section 5, "Who may").
struct Access {
  /// The user that the daemon runs as; a user's daemon is his alone.
  let uid: uid_t
  /// The group `refreshd`, whose members may all, where it exists.
  let group: gid_t?
  /// The user of the push bridge, who may hand in pushes and nothing else, where there is one.
  let bridge: uid_t?

  /// Reads who the daemon is, which group may ask it everything, and who the bridge is.
  static func current() -> Access {
    Access(
      uid: getuid(), group: getgrnam("refreshd").map { $0.pointee.gr_gid },
      bridge: getpwnam("refresh-push").map { $0.pointee.pw_uid })
  }

  /// Whether the peer may ask about the daemon itself and about every app.
  func mayAll(_ peer: Peer) -> Bool {
    peer.uid == 0 || peer.uid == uid || group.map(peer.isMember) == true
  }

  /// Whether the peer may ask about the app, and signal for it.
  func may(_ peer: Peer, about app: AppConfiguration) -> Bool {
    peer.uid == app.owner.uid || mayAll(peer)
  }

  /// Whether the peer may hand in pushes for all apps, as the bridge does.
  func mayPush(_ peer: Peer) -> Bool { peer.uid == bridge || mayAll(peer) }

  /// What would help somebody who may not hand in pushes for all apps.
  ///
  /// Users are looked up once: where they are kept on another machine, the loop would wait for that.
  var remedyForPushes: String {
    let late =
      bridge == nil ? " There was no such user when refreshd started; if there is one now, restart refreshd." : ""
    return "Ask as root, as the user refresh-push or as a member of the group refreshd." + late
  }

  /// What would help somebody who may not ask about the daemon.
  var remedy: String { "Ask as root or as a member of the group refreshd." }

  /// What would help somebody who may not ask about the app.
  func remedy(for app: AppConfiguration) -> String {
    "Ask as \(app.owner.name), as root or as a member of the group refreshd."
  }
}
