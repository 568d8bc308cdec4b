@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig

/// The daemon of a new app, and the folder of its files.
struct AppHome {
  let socket: SocketPath
  /// The directories that the daemon reads.
  let sources: ConfigurationSources
  /// The daemon as the reader of its files.
  let reader: Reader
  /// Whether a daemon answers on the socket.
  let isAnswered: Bool

  /// Whether its apps may belong to any user.
  var hasManyOwners: Bool { reader.uid == 0 && !reader.isUserDaemon }

  /// Finds the daemon of a socket, else that of a kind; without either, root gets the system's daemon and a user their own.
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

/// Writes a file into `apps.d` atomically.
///
/// Writes the text to a hidden file, which the daemon does not read, and then renames it.
enum AppFileWriter {
  /// Writes the file and creates missing folders.
  ///
  /// Replaces a file of that name only if `replaces` is true; otherwise such a file is a failure.
  static func write(_ text: String, to path: String, replaces: Bool) throws(Failure) {
    guard let slash = path.lastIndex(of: "/") else { throw refusal(path, EINVAL) }
    try makeFolder(String(path[..<slash]))
    guard let hidden = strdup(path[...slash] + ".new-app-XXXXXX") else { throw refusal(path, ENOMEM) }
    defer { free(hidden) }
    let descriptor = mkstemp(hidden)
    guard descriptor >= 0 else { throw refusal(path, errno) }
    defer { unlink(hidden) }
    let isWritten = fill(descriptor, with: text)
    let error = errno
    close(descriptor)
    guard isWritten else { throw refusal(path, error) }
    // link(2) never replaces a file, rename(2) always does.
    guard (replaces ? rename(hidden, path) : link(hidden, path)) == 0 else {
      throw errno == EEXIST ? Self.existing(path) : refusal(path, errno)
    }
  }

  /// The failure of a file that already exists.
  static func existing(_ path: String) -> Failure {
    Failure(
      status: .failed,
      text: "cannot write a new app to \(printable(path)): the file already exists; edit it, or replace it with --force"
    )
  }

  private static func fill(_ descriptor: Int32, with text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return fchmod(descriptor, 0o644) == 0 && fsync(descriptor) == 0
  }

  private static func makeFolder(_ folder: String) throws(Failure) {
    guard access(folder, F_OK) != 0 else { return }
    if let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
      try makeFolder(String(folder[..<slash]))
    }
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw refusal(folder, errno) }
  }

  private static func refusal(_ path: String, _ error: Int32) -> Failure {
    let isForbidden = error == EACCES || error == EPERM
    return Failure(
      status: isForbidden ? .notAllowed : .failed,
      text: "cannot write \(printable(path)): \(errorText(error)); "
        + (isForbidden
          ? "write as root for the system's daemon, or with --user for your own" : "--print shows the file"))
  }
}
