import CLinux
import Glibc

/// The process at the other end of a connection, as the kernel reports it.
///
/// The credentials are those at connect(2): unix(7), `SO_PEERCRED` and `SO_PEERGROUPS`. They cannot be forged, but the
/// process may have ended since, and another process may have its id.
public struct Peer: Sendable, Equatable {
  /// The process, in the pid namespace of this process; 0 if it is not visible there.
  public let pid: pid_t
  /// The user.
  public let uid: uid_t
  /// The primary group.
  public let gid: gid_t
  /// The supplementary groups; empty before Linux 4.13.
  public let groups: [gid_t]
  /// The subject that the peer may act for, known after its first call.
  public private(set) var confinement: CallerConfinement
  /// Its process, opened before another process can have its id; nil if the kernel itself identifies the peer.
  fileprivate private(set) var process: OpenProcess?

  /// Makes a peer with given credentials, for tests and for other sources of credentials.
  public init(pid: pid_t, uid: uid_t, gid: gid_t, groups: [gid_t], confinement: CallerConfinement = .none) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.confinement = confinement
  }

  /// Reads the peer of a connected Unix socket; nil if the kernel does not report it.
  init?(of descriptor: Int32) {
    var pid: pid_t = 0
    var uid: uid_t = 0
    var gid: gid_t = 0
    guard linux_peer_credentials(descriptor, &pid, &uid, &gid) == 0 else { return nil }
    self.init(pid: pid, uid: uid, gid: gid, groups: Peer.groups(of: descriptor))
    if pid > 0, !OpenProcess.canBePeer { process = OpenProcess(pid) }
  }

  /// Reads the user of the peer of a connected Unix socket; nil if the kernel does not report it.
  static func user(of descriptor: Int32) -> uid_t? {
    var pid: pid_t = 0
    var uid: uid_t = 0
    var gid: gid_t = 0
    return linux_peer_credentials(descriptor, &pid, &uid, &gid) == 0 ? uid : nil
  }

  /// Inspects its process, once.
  mutating func inspect(_ descriptor: Int32, by inspect: (CallerProcess) -> CallerConfinement) {
    confinement = CallerConfinement(of: descriptor, self, by: inspect)
    process = nil
  }

  /// The label of the peer of a socket; nil without one.
  fileprivate static func label(of descriptor: Int32) -> String? {
    var label = [UInt8](repeating: 0, count: 1024)
    var bytes = socklen_t(label.count)
    guard linux_peer_label(descriptor, &label, &bytes) == 0 else { return nil }
    return String(decoding: label.prefix(Int(bytes)).prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Whether the group is the peer's primary group or a supplementary one.
  public func isMember(of group: gid_t) -> Bool {
    gid == group || groups.contains(group)
  }

  private static func groups(of descriptor: Int32) -> [gid_t] {
    var groups = [gid_t](repeating: 0, count: 32)
    while true {
      let room = groups.count * MemoryLayout<gid_t>.stride
      var bytes = socklen_t(room)
      let result = linux_peer_groups(descriptor, &groups, &bytes)
      let count = Int(bytes) / MemoryLayout<gid_t>.stride
      if result == 0 { return Array(groups.prefix(count)) }
      // ERANGE reports the needed size.
      guard errno == ERANGE, Int(bytes) > room else { return [] }
      groups = [gid_t](repeating: 0, count: count)
    }
  }
}

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
  public fileprivate(set) var hasEnded: Bool

  /// Makes a process from the known facts.
  public init(id: pid_t, user: uid_t, pidfd: Int32 = -1, securityLabel: String? = nil, hasEnded: Bool = false) {
    (self.id, self.user, self.pidfd, self.securityLabel) = (id, user, pidfd, securityLabel)
    self.hasEnded = hasEnded
  }
}

/// A process that cannot be confused with a later process of the same id.
private final class OpenProcess: Sendable, Equatable {
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

  /// What is known about a caller's sandbox.
  public struct Sandbox: Sendable, Equatable {
    /// The subject that the caller may act for.
    public let subject: String
    /// The folder of its data outside the sandbox; nil if that is unknown.
    public let folder: String?
    /// Whether it shares the network of the machine; false if that is unknown.
    public let hasNetwork: Bool

    /// Makes the facts about a sandbox.
    public init(_ subject: String, folder: String? = nil, hasNetwork: Bool = false) {
      (self.subject, self.folder, self.hasNetwork) = (subject, folder, hasNetwork)
    }
  }

  /// The only subject that the caller may act for; nil if the caller is not confined to one subject.
  public var subject: String? {
    switch self {
    case .to(let name): name
    case .sandbox(let sandbox): sandbox.subject
    case .none, .fromAll: nil
    }
  }

  /// The sandbox of the caller; nil for a caller outside one.
  public var sandbox: Sandbox? { if case .sandbox(let sandbox) = self { sandbox } else { nil } }

  /// Inspects the process that connected, which may end at any time.
  ///
  /// - Parameters:
  ///   - descriptor: the connected socket.
  ///   - peer: its peer, by `SO_PEERCRED`.
  ///   - inspect: inspects the process.
  fileprivate init(of descriptor: Int32, _ peer: Peer, by inspect: (CallerProcess) -> CallerConfinement) {
    // 0 is a process outside this pid namespace, which cannot be inspected.
    guard peer.pid > 0 else {
      self = inspect(CallerProcess(id: peer.pid, user: peer.uid))
      return
    }
    let opened = peer.process ?? OpenProcess(peerOf: descriptor)
    guard opened.pidfd >= 0 else {
      self = .fromAll
      return
    }
    var process = CallerProcess(
      id: peer.pid, user: peer.uid, pidfd: opened.pidfd, securityLabel: Peer.label(of: descriptor))
    self = withExtendedLifetime(opened) {
      if !opened.hasEnded {
        let confinement = inspect(process)
        // After its end, another process may have the id.
        if !opened.hasEnded { return confinement }
      }
      process.hasEnded = true
      return inspect(process)
    }
  }
}
