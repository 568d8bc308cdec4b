@preconcurrency import Glibc

/// Which daemon is meant: the path of its socket, and whose it is (DESIGN section 5).
public struct SocketPath: Hashable, Sendable {
  /// Who answers there.
  public enum Daemon: Hashable, Sendable {
    /// Whoever was named.
    case named
    /// The user's own daemon.
    case user
    /// The daemon of the whole machine.
    case system
  }

  /// Where the socket is in the file system.
  public let path: String
  /// Whose daemon listens there.
  public let daemon: Daemon

  /// Makes it of its parts.
  public init(path: String, daemon: Daemon) {
    self.path = path
    self.daemon = daemon
  }

  /// The socket that was named, else `$REFRESH_SOCKET`, else the user's if it is there, else the system's.
  public static func find(
    named: String?, environment: (String) -> String?, exists: (String) -> Bool
  ) -> SocketPath {
    if let path = named ?? environment("REFRESH_SOCKET") { return SocketPath(path: path, daemon: .named) }
    if let directory = environment("XDG_RUNTIME_DIR") {
      let path = "\(directory)/refreshd/org.refreshd"
      if exists(path) { return SocketPath(path: path, daemon: .user) }
    }
    return SocketPath(path: "/run/refreshd/org.refreshd", daemon: .system)
  }

  /// The socket that ``find(named:environment:exists:)`` means for this process, here and now.
  public static func find(named: String?) -> SocketPath {
    find(
      named: named, environment: { getenv($0).map { String(cString: $0) } }, exists: { access($0, F_OK) == 0 })
  }

  /// How to start the daemon that would answer there.
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
