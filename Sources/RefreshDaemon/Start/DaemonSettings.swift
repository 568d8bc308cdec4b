import Glibc
import RefreshAPI
import RefreshConfig

/// The settings of the command line and the environment.
public struct DaemonSettings: Sendable {
  /// The purpose of a start.
  public enum Purpose: Sendable {
    /// Run.
    case run
    /// Read the configuration, print every mistake, and exit.
    case check
    /// Print the help, and exit.
    case help
    /// Print the version, and exit.
    case version
  }

  /// The purpose of this start.
  public let purpose: Purpose
  let isUserDaemon: Bool
  let sources: ConfigurationSources
  let stateDirectory: String
  /// The database file.
  var storePath: String { "\(stateDirectory)/refreshd.sqlite" }
  /// Whether the state directory is the standard one for this kind of daemon.
  let hasStandardState: Bool
  let socket: String
  /// The environment of the daemon, `NAME=value` each.
  let environment: [String]

  /// Whether systemd runs the daemon as a unit whose restrictions its children would inherit.
  ///
  /// Such a daemon never starts tasks itself. `systemd/spawn.conf` lifts the restrictions and delegates the cgroup.
  var isBoundUnit: Bool { isOwnUnit && Cgroup.delegated() == nil }

  /// Whether systemd started this very process (systemd.exec(5)); a terminal in a unit passes `INVOCATION_ID` on.
  private var isOwnUnit: Bool {
    let variables = Variables(environment)
    guard variables["INVOCATION_ID"] != nil else { return false }
    return variables["SYSTEMD_EXEC_PID"].map { $0 == "\(getpid())" } ?? true
  }

  /// The directory of the socket.
  var socketDirectory: String { socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? "/" }

  /// The reader of the configuration.
  var reader: Reader { Reader(isUserDaemon: isUserDaemon) }

  /// The text of `refreshd --help`.
  public static let help = """
    Usage: refreshd [--user] [--config DIR] [--state DIR] [--socket PATH] [--check]

    Keeps apps fresh in the background. Runs in the foreground until SIGTERM; SIGHUP reloads the configuration.

      --user         serve one user: configuration, state and socket below the user's own directories
      --config DIR   read DIR/refreshd.toml and DIR/apps.d/*.toml and nothing else
      --state DIR    keep the state here (else $STATE_DIRECTORY, /var/lib/refreshd or ~/.local/state/refreshd)
      --socket PATH  listen here (else /run/refreshd/org.refreshd or $XDG_RUNTIME_DIR/refreshd/org.refreshd)
      --check        only read the configuration and print every mistake
      --version      print the version
      --help         print this

    Exit codes: 0 stopped on request; 64 wrong usage; 70 the machine lacks something; 73 state or socket cannot be
    made; 75 another refreshd is at work here; 78 the configuration has mistakes.

    """

  /// The environment of this process, `NAME=value` each.
  public static func ownEnvironment() -> [String] {
    var environment: [String] = []
    var next = environ
    while let variable = next.pointee {
      environment.append(String(cString: variable))
      next += 1
    }
    return environment
  }

  /// Reads the environment and the command line, whose `arguments[0]` is the program's name.
  public init(arguments: [String], environment: [String]) throws(ServiceError) {
    let options = try ServiceOptions(
      arguments, of: "refreshd", Purpose.run,
      ["--check": .check, "--help": .help, "-h": .help, "--version": .version])
    let variables = Variables(environment)
    purpose = options.purpose
    isUserDaemon = options.isOfUser
    self.environment = environment
    let home = variables["HOME"] ?? "/"
    if let directory = options.config {
      sources = .directory(try absolute(directory))
    } else {
      sources = isUserDaemon ? .user(home: home) : .system
    }
    let standardState =
      isUserDaemon
      ? "\(variables["XDG_STATE_HOME"] ?? "\(home)/.local/state")/refreshd" : "/var/lib/refreshd"
    stateDirectory = try absolute(options.state ?? variables["STATE_DIRECTORY"] ?? standardState)
    hasStandardState = stateDirectory == standardState
    if let socket = options.socket {
      self.socket = try absolute(socket)
    } else if !isUserDaemon {
      socket = SocketPath.system.path
    } else if let runtime = variables["XDG_RUNTIME_DIR"] {
      socket = SocketPath.ofUser(runtime: runtime).path
    } else if options.purpose == .run {
      throw ServiceError(
        .usage, "cannot choose a socket: $XDG_RUNTIME_DIR is not set; log in as the user, or give --socket PATH")
    } else {
      socket = ""
    }
  }
}

/// Makes a path absolute, for messages and for tasks, which run in another directory.
private func absolute(_ path: String) throws(ServiceError) -> String {
  if path.hasPrefix("/") { return path }
  guard let directory = getcwd(nil, 0) else {
    throw ServiceError(
      .usage, "cannot use the relative path \(path): the working directory is gone; give an absolute path")
  }
  defer { free(directory) }
  return "\(String(cString: directory))/\(path)"
}

/// Looks up variables in an environment; an empty variable counts as unset (XDG Base Directory Specification).
private struct Variables {
  private let values: [Substring: Substring]

  init(_ environment: [String]) {
    values = Dictionary(
      environment.compactMap { variable in
        variable.firstIndex(of: "=").map { (variable[..<$0], variable[variable.index(after: $0)...]) }
      }, uniquingKeysWith: { first, _ in first })
  }

  subscript(name: Substring) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : String($0) }
  }
}
