@preconcurrency import Glibc

/// The socket of a daemon: its path, and the daemon's kind.
public struct SocketPath: Hashable, Sendable {
  /// The kinds of daemon.
  public enum DaemonKind: Hashable, Sendable {
    /// The daemon whose socket was named.
    case named
    /// The user's own daemon.
    case user
    /// The daemon of the whole machine.
    case system
  }

  /// The path of the socket.
  public let path: String
  /// The kind of the daemon that listens there.
  public let daemon: DaemonKind

  /// A socket at a path.
  public init(path: String, daemon: DaemonKind) {
    self.path = path
    self.daemon = daemon
  }

  /// The named socket, else `$REFRESH_SOCKET`, else the user's socket if it exists, else the system's.
  public static func find(
    named: String?, environment: (String) -> String?, exists: (String) -> Bool
  ) -> SocketPath {
    if let path = named ?? environment("REFRESH_SOCKET") { return SocketPath(path: path, daemon: .named) }
    if let directory = environment("XDG_RUNTIME_DIR") {
      let own = ofUser(runtime: directory)
      if exists(own.path) { return own }
    }
    return .system
  }

  /// The socket of the system's daemon.
  public static let system = SocketPath(path: "/run/refreshd/org.refreshd", daemon: .system)

  /// The socket of a user's own daemon, below the user's runtime directory.
  public static func ofUser(runtime: String) -> SocketPath {
    SocketPath(path: "\(runtime)/refreshd/org.refreshd", daemon: .user)
  }

  /// Finds the socket for this process, in its present environment.
  public static func find(named: String?) -> SocketPath {
    find(
      named: named, environment: { getenv($0).map { String(cString: $0) } }, exists: { access($0, F_OK) == 0 })
  }

  /// The command that starts the daemon of this socket.
  public var remedy: String {
    switch daemon {
    case .named: "start it with `refreshd --config DIR --socket \(path)`"
    case .user: "start your own with `systemctl --user start refreshd.socket`"
    case .system:
      "start it with `systemctl start refreshd.socket`, or your own with `systemctl --user start refreshd.socket`"
        + ", or one by hand with `refreshd --config DIR --socket PATH`"
    }
  }
}
