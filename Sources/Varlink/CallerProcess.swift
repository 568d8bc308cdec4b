import CLinux
import Glibc

/// The process at the other end of a connection, for the service to inspect.
public struct CallerProcess: Sendable {
  /// Its id, in the pid namespace of this process; 0 if it is outside.
  public let id: pid_t
  /// Its user.
  public let user: uid_t
  /// Its descriptor; -1 if it is outside of this pid namespace.
  public let pidfd: Int32
  /// Its label by a security module of the kernel, such as AppArmor; nil without one.
  public let securityLabel: String?
  /// Whether it has ended, so that another process may have its id.
  public internal(set) var hasEnded: Bool

  /// Makes it from what is known.
  public init(id: pid_t, user: uid_t, pidfd: Int32 = -1, securityLabel: String? = nil, hasEnded: Bool = false) {
    (self.id, self.user, self.pidfd, self.securityLabel) = (id, user, pidfd, securityLabel)
    self.hasEnded = hasEnded
  }
}

/// A process that no later process of the same id can be taken for.
final class OpenProcess: Sendable, Equatable {
  /// Its descriptor; negative if it could not be opened.
  let pidfd: Int32

  /// Opens the peer of a connected socket: `SO_PEERPIDFD`, Linux 6.5.
  init(peerOf socket: Int32) { pidfd = linux_peer_pidfd(socket) }

  /// Opens the process that has an id now: pidfd_open(2).
  init(_ id: pid_t) { pidfd = linux_pidfd_open(id) }

  deinit { if pidfd >= 0 { close(pidfd) } }

  static func == (one: OpenProcess, other: OpenProcess) -> Bool { one === other }

  /// Whether it has ended.
  var hasEnded: Bool {
    var end = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    return poll(&end, 1, 0) != 0
  }

  /// Whether the kernel can name the peer of a socket.
  static let canBePeer: Bool = {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      return true
    }
    defer { for end in pair { close(end) } }
    let peer = linux_peer_pidfd(pair[0])
    if peer < 0 { return errno != ENOPROTOOPT }
    close(peer)
    return true
  }()
}
