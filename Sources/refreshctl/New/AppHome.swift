@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig

/// The daemon of a new app, and the folder of its files.
struct AppHome {
  let socket: SocketPath
  /// The directories that the daemon reads.
  let sources: ConfigurationSources
  /// The daemon as a reader of its files.
  let reader: Reader
  /// Whether a daemon answers on the socket.
  let isAnswered: Bool

  /// Whether its apps may belong to any user.
  var hasManyOwners: Bool { reader.uid == 0 && !reader.isUserDaemon }

  /// Finds the daemon of a socket, else of a kind; without either, root's is the system's and a user's is their own.
  ///
  /// A running daemon reports its folder. Without a daemon, the folder is the standard one of its kind.
  static func find(socket: String?, daemon kind: SocketPath.DaemonKind?) throws(Failure) -> AppHome {
    let socket = path(socket: socket, daemon: kind)
    do throws(Failure) {
      let daemon = try DaemonClient(socket: socket.path, .ofOverview)
      let status = try daemon.call(ManagerInterface.Status.self, .init()).status
      let uid = socket.daemon == .system ? 0 : geteuid()
      return AppHome(
        socket: socket, sources: .read(status.configuration.directories),
        reader: Reader(uid: uid, isUserDaemon: status.isUserDaemon), isAnswered: true)
    } catch {
      guard error.status == .noDaemon, socket.daemon != .named else { throw error }
      return unanswered(socket)
    }
  }

  private static func path(socket: String?, daemon kind: SocketPath.DaemonKind?) -> SocketPath {
    let named = socket ?? (kind == nil ? environmentVariable("REFRESH_SOCKET") : nil)
    if let named { return SocketPath(path: named, daemon: .named) }
    if (kind ?? (geteuid() == 0 ? .system : .user)) == .system { return .system }
    let runtime = environmentVariable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
    return .ofUser(runtime: runtime)
  }

  private static func unanswered(_ socket: SocketPath) -> AppHome {
    socket.daemon == .user
      ? AppHome(
        socket: socket, sources: .user(home: environmentVariable("HOME") ?? "/"), reader: Reader(isUserDaemon: true),
        isAnswered: false)
      : AppHome(socket: socket, sources: .system, reader: Reader(uid: 0), isAnswered: false)
  }
}
