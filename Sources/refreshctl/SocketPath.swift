@preconcurrency import Glibc

/// Which daemon is meant: the path of its socket, and whose it is.
struct SocketPath: Hashable {
  /// Who answers there.
  enum Daemon: Hashable {
    case named, user, system
  }

  let path: String
  let daemon: Daemon

  /// The socket that was named, else `$REFRESH_SOCKET`, else the user's if it is there, else the system's.
  static func find(
    named: String?, environment: (String) -> String?, exists: (String) -> Bool
  ) -> SocketPath {
    if let path = named ?? environment("REFRESH_SOCKET") { return SocketPath(path: path, daemon: .named) }
    if let directory = environment("XDG_RUNTIME_DIR") {
      let path = "\(directory)/refreshd/org.refreshd"
      if exists(path) { return SocketPath(path: path, daemon: .user) }
    }
    return SocketPath(path: "/run/refreshd/org.refreshd", daemon: .system)
  }

  /// How to start the daemon that would answer there.
  var remedy: String {
    switch daemon {
    case .named: "start it with `refreshd --config DIR --socket \(path)`"
    case .user: "start your own with `systemctl --user start refreshd.socket`"
    case .system:
      "start it with `systemctl start refreshd.socket`, or your own with `systemctl --user start refreshd.socket`"
        + ", or one by hand with `refreshd --config DIR --socket PATH`"
    }
  }
}
