import Glibc
import RefreshAPI
import RefreshConfig
import Varlink

/// The rights of callers, by the credentials of their sockets and the origin of their processes.
struct Access {
  /// The daemon's user, who may do everything.
  let uid: uid_t
  /// The group `refreshd`, whose members may do everything; nil if there is none, and for a user's own daemon.
  let group: gid_t?
  /// The user of the push bridge, who may only send pushes; nil as for the group.
  let bridge: uid_t?
  /// Whether the daemon is a user's own, and obeys only that user and root.
  var isUserDaemon = false

  /// Looks up the daemon's user, and for the system's daemon the group and the bridge's user.
  static func current(isUserDaemon: Bool) -> Access {
    guard !isUserDaemon else { return Access(uid: getuid(), group: nil, bridge: nil, isUserDaemon: true) }
    return Access(
      uid: getuid(), group: getgrnam("refreshd").map { $0.pointee.gr_gid },
      bridge: getpwnam("refresh-push").map { $0.pointee.pw_uid })
  }

  /// Whether the peer may ask about the daemon itself and about every app.
  func mayAll(_ peer: Peer) -> Bool { peer.confinement == .none && hasPower(peer) }

  /// Whether the peer may ask about the daemon, as far as its own apps are concerned; the bridge has no apps.
  func maySeeOwn(_ peer: Peer) -> Bool {
    mayAll(peer) || peer.confinement == .none && !isUserDaemon && peer.uid != bridge
  }

  /// Whether the peer may ask about the app, and signal for it.
  func may(_ peer: Peer, about app: AppConfiguration) -> Bool {
    (peer.confinement == .none || peer.confinement.subject == app.id.description)
      && (peer.uid == app.owner.uid || hasPower(peer))
  }

  /// Whether the peer may send pushes for all apps, as the bridge does.
  func mayPush(_ peer: Peer) -> Bool { mayAll(peer) || peer.confinement == .none && peer.uid == bridge }

  private func hasPower(_ peer: Peer) -> Bool {
    peer.uid == 0 || peer.uid == uid || group.map(peer.isMember) == true
  }

  /// The error for a peer that may not ask about an app, whether the app exists or not.
  func refusal(of peer: Peer, app name: String) -> RefreshdInterface.NotAllowed {
    RefreshdInterface.NotAllowed(app: name, remedy: remedy(for: peer))
  }

  /// The remedy for a caller that may not ask about an app.
  func remedy(for peer: Peer) -> String {
    switch peer.confinement {
    case .none: isUserDaemon ? remedy : "Ask as its owner, as root or as a member of the group refreshd."
    case .to(let name): "A task speaks for itself only: ask about \(name)."
    case .sandbox(let sandbox): "A sandboxed app speaks for itself only: ask about \(sandbox.subject)."
    case .fromAll: "Ask from a process that lives until it is answered, outside a sandbox."
    }
  }

  /// The remedy for a confined caller of a method that is for people.
  func remedyForPeople(_ peer: Peer) -> String {
    guard let name = peer.confinement.subject else { return remedy(for: peer) }
    return "This is for the person, outside a task and a sandbox; \(name) may signal, attach, complete and transfer."
  }

  /// The remedy for a caller that may not send pushes for all apps.
  ///
  /// Users are looked up once at the start, because the loop would wait for a directory server.
  var remedyForPushes: String {
    guard !isUserDaemon else { return remedy }
    let late =
      bridge == nil ? " There was no such user when refreshd started; if there is one now, restart refreshd." : ""
    return "Ask as root, as the user refresh-push or as a member of the group refreshd." + late
  }

  /// The remedy for a caller that may not ask about the daemon.
  var remedy: String {
    isUserDaemon
      ? "Ask as the user of this daemon, or as root." : "Ask as root or as a member of the group refreshd."
  }
}
