import CLinux
import Glibc

/// The subject to which a caller is confined, because of where its process runs.
///
/// Varlink only keeps it with the ``Peer``; the service inspects the process and enforces the result.
public enum CallerConfinement: Sendable, Equatable {
  /// Only its credentials bound the caller.
  case none
  /// The caller may act for this subject only.
  case to(String)
  /// The caller runs in a sandbox of its own, and may act for the subject of that sandbox only.
  case sandbox(Sandbox)
  /// The caller may act for nothing.
  case fromAll

  /// The known facts about a caller's sandbox.
  public struct Sandbox: Sendable, Equatable {
    /// The subject that the caller may act for.
    public let subject: String
    /// The folder of its data outside the sandbox; nil if that is unknown.
    public let folder: String?
    /// Whether it shares the network of the machine; false if that is unknown.
    public let hasNetwork: Bool

    /// Makes it from what was found out.
    public init(_ subject: String, folder: String? = nil, hasNetwork: Bool = false) {
      (self.subject, self.folder, self.hasNetwork) = (subject, folder, hasNetwork)
    }
  }

  /// The one subject that the caller may act for; nil if there is not exactly one.
  public var subject: String? {
    switch self {
    case .to(let name): name
    case .sandbox(let sandbox): sandbox.subject
    case .none, .fromAll: nil
    }
  }

  /// The sandbox of the caller; nil for a caller outside one.
  public var sandbox: Sandbox? { if case .sandbox(let sandbox) = self { sandbox } else { nil } }

  /// Inspects the process that connected, which may end meanwhile.
  ///
  /// - Parameters:
  ///   - descriptor: the connected socket.
  ///   - peer: its peer, by `SO_PEERCRED`.
  ///   - look: inspects a process by its id, its user and its pidfd; with true, a process that has ended.
  init(of descriptor: Int32, _ peer: Peer, by look: (pid_t, uid_t, Int32, Bool) -> CallerConfinement) {
    // 0 is a process outside of this pid namespace, about which nothing can be read.
    guard peer.pid > 0 else {
      self = look(peer.pid, peer.uid, -1, false)
      return
    }
    var pidfd = linux_peer_pidfd(descriptor)
    // Before Linux 6.5 the process is found by its id, which another process may have by now.
    if pidfd < 0, errno == ENOPROTOOPT { pidfd = linux_pidfd_open(peer.pid) }
    guard pidfd >= 0 else {
      self = .fromAll
      return
    }
    defer { close(pidfd) }
    var end = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    if poll(&end, 1, 0) == 0 {
      self = look(peer.pid, peer.uid, pidfd, false)
      // By its end, the id may be another process's.
      if poll(&end, 1, 0) == 0 { return }
    }
    self = look(peer.pid, peer.uid, pidfd, true)
  }
}
