import CLinux
import Glibc

/// The one subject that a caller may speak about, because of where its process runs.
///
/// Varlink only keeps it with the ``Peer``; the service looks at the process and obeys the result.
public enum CallerConfinement: Sendable, Equatable {
  /// Nothing bounds the caller but its credentials.
  case none
  /// The caller may speak about this subject only.
  case to(String)
  /// The caller may speak about nothing.
  case fromAll

  /// Looks at the process that connected, which may end meanwhile.
  ///
  /// - Parameters:
  ///   - descriptor: the connected socket.
  ///   - peer: its peer, by `SO_PEERCRED`.
  ///   - look: reads the process from `/proc`. Its answer counts only if the process was alive after it.
  init(of descriptor: Int32, _ peer: Peer, by look: (pid_t, uid_t) -> CallerConfinement) {
    // 0 is a process of another pid namespace: it is no child of this machine's service manager.
    guard peer.pid > 0 else {
      self = .none
      return
    }
    var pidfd = linux_peer_pidfd(descriptor)
    // Before Linux 6.5 the process is found by its id, which may be another's by now.
    if pidfd < 0, errno == ENOPROTOOPT { pidfd = linux_pidfd_open(peer.pid) }
    guard pidfd >= 0 else {
      self = .fromAll
      return
    }
    defer { close(pidfd) }
    let answer = look(peer.pid, peer.uid)
    var end = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    // A process that has ended could have left the socket to another of its sandbox.
    self = poll(&end, 1, 0) == 0 ? answer : .fromAll
  }
}
