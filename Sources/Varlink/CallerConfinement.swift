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
  ///   - look: inspects the process.
  init(of descriptor: Int32, _ peer: Peer, by look: (CallerProcess) -> CallerConfinement) {
    // 0 is a process outside of this pid namespace, about which nothing can be read.
    guard peer.pid > 0 else {
      self = look(CallerProcess(id: peer.pid, user: peer.uid))
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
        let confinement = look(process)
        // By its end, the id may be another process's.
        if !opened.hasEnded { return confinement }
      }
      process.hasEnded = true
      return look(process)
    }
  }
}
