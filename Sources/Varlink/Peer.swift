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
  public internal(set) var confinement: CallerConfinement
  /// Its process, opened before it can have made room for another of its id; nil where the kernel names the peer itself.
  private(set) var process: OpenProcess?

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
  mutating func inspect(_ descriptor: Int32, by look: (CallerProcess) -> CallerConfinement) {
    confinement = CallerConfinement(of: descriptor, self, by: look)
    process = nil
  }

  /// The label of the peer of a socket; nil without one.
  static func label(of descriptor: Int32) -> String? {
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
