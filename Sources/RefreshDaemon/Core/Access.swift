import Glibc
import RefreshConfig
import Varlink

/// The rights of callers, by the credentials of their sockets.
struct Access {
  /// The user that the daemon runs as, who may do everything.
  let uid: uid_t
  /// The group `refreshd`, whose members may do everything, if it exists.
  let group: gid_t?
  /// The user of the push bridge, who may send pushes and nothing else, if it exists.
  let bridge: uid_t?

  /// Looks up the daemon's user, the group and the bridge's user.
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

  /// Whether the peer may send pushes for all apps, as the bridge does.
  func mayPush(_ peer: Peer) -> Bool { peer.uid == bridge || mayAll(peer) }

  /// The remedy for a caller that may not send pushes for all apps.
  ///
  /// Users are looked up once at the start, because the loop would wait for a directory server.
  var remedyForPushes: String {
    let late =
      bridge == nil ? " There was no such user when refreshd started; if there is one now, restart refreshd." : ""
    return "Ask as root, as the user refresh-push or as a member of the group refreshd." + late
  }

  /// The remedy for a caller that may not ask about the daemon.
  var remedy: String { "Ask as root or as a member of the group refreshd." }

  /// The remedy for a caller that may not ask about the app.
  func remedy(for app: AppConfiguration) -> String {
    "Ask as \(app.owner.name), as root or as a member of the group refreshd."
  }
}
