import Glibc
import RefreshAPI
import RefreshConfig

/// The settings of the bridge from its command line and environment.
struct BridgeSettings: Sendable {
  /// The action that the command line asks for.
  enum Purpose: Hashable, Sendable {
    case run
    case help
    case version
  }

  let purpose: Purpose
  /// Whether the bridge serves one user (`--user`).
  let isOfUser: Bool
  let sources: ConfigurationSources
  let socket: SocketPath
  let stateDirectory: String
  /// The directory that `~` means.
  let home: String
  let secrets: Secrets

  /// The text of `refresh-push --help`.
  static let help = """
    Usage: refresh-push [--user] [--config DIR] [--state DIR] [--socket PATH]

    Brings messages of ntfy servers, event streams and MQTT brokers to refreshd, as push.toml says. Runs in the
    foreground until SIGTERM; SIGHUP reads push.toml again.

      --user         serve one user: configuration, state and socket below the user's own directories
      --config DIR   read DIR/push.toml and nothing else
      --state DIR    keep the position in each stream here (else $STATE_DIRECTORY, /var/lib/refresh-push or
                     ~/.local/state/refresh-push)
      --socket PATH  where refreshd listens (else /run/refreshd/org.refreshd or
                     $XDG_RUNTIME_DIR/refreshd/org.refreshd)
      --version      print the version
      --help         print this

    Exit codes: 0 stopped by a signal; 64 wrong usage; 65 the state is damaged; 70 the machine lacks something; 73 the state
    cannot be written; 75 another refresh-push is at work on it; 78 push.toml has mistakes.

    """

  /// Reads the command line and the environment.
  ///
  /// `arguments[0]` is the program's name; an empty variable counts as unset.
  init(
    arguments: [String], environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) throws(ServiceError) {
    func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let options = try ServiceOptions(
      arguments, of: "refresh-push", Purpose.run, ["--help": .help, "-h": .help, "--version": .version])
    (purpose, isOfUser) = (options.purpose, options.isOfUser)
    home = variable("HOME") ?? "/"
    if let directory = options.config {
      sources = .directory(directory)
    } else {
      sources = isOfUser ? .user(home: home, environment: environment) : .system
    }
    let standardState =
      isOfUser ? "\(variable("XDG_STATE_HOME") ?? "\(home)/.local/state")/refresh-push" : "/var/lib/refresh-push"
    stateDirectory = options.state ?? variable("STATE_DIRECTORY") ?? standardState
    secrets = Secrets(isOfMachine: !isOfUser, credentials: variable("CREDENTIALS_DIRECTORY"))
    if let path = options.socket ?? variable("REFRESH_SOCKET") {
      socket = SocketPath(path: path, daemon: .named)
    } else if !isOfUser {
      socket = .system
    } else if let runtime = variable("XDG_RUNTIME_DIR") {
      socket = .ofUser(runtime: runtime)
    } else if purpose == .run {
      throw ServiceError(
        .usage, "cannot find refreshd's socket: $XDG_RUNTIME_DIR is not set; log in as the user, or give --socket")
    } else {
      socket = SocketPath(path: "", daemon: .user)
    }
  }
}
