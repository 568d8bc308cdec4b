import Glibc
import RefreshConfig

/// What the command line and the environment say of this daemon.
public struct Settings: Sendable {
  /// What was asked for.
  public enum Purpose: Sendable {
    /// Run.
    case run
    /// Read the configuration, say every mistake, and exit.
    case check
    /// Say how to use the command line, and exit.
    case help
    /// Say the version, and exit.
    case version
  }

  /// What was asked for.
  public let purpose: Purpose
  let isUserDaemon: Bool
  let sources: ConfigurationSources
  let stateDirectory: String
  let socket: String
  /// The environment that the daemon was started with, `NAME=value` each.
  let environment: [String]

  /// Who reads the configuration.
  var reader: Reader { Reader(isUserDaemon: isUserDaemon) }

  /// What `refreshd --help` prints.
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

    Exit codes: 0 stopped as told; 64 wrong usage; 70 the machine lacks something; 73 state or socket cannot be
    made; 75 another refreshd is at work here; 78 the configuration has mistakes.

    """

  /// Reads the command line, `arguments[0]` being the program's name, and the environment.
  public init(arguments: [String], environment: [String]) throws(StartError) {
    let options = try Options(arguments)
    let variables = Variables(environment)
    purpose = options.purpose
    isUserDaemon = options.isUserDaemon
    self.environment = environment
    let home = variables["HOME"] ?? "/"
    if let directory = options.config {
      sources = .directory(directory)
    } else {
      sources = options.isUserDaemon ? .user(home: home) : .system
    }
    let standardState =
      options.isUserDaemon
      ? "\(variables["XDG_STATE_HOME"] ?? "\(home)/.local/state")/refreshd" : "/var/lib/refreshd"
    stateDirectory = options.state ?? variables["STATE_DIRECTORY"] ?? standardState
    if let socket = options.socket {
      self.socket = socket
    } else if !options.isUserDaemon {
      socket = "/run/refreshd/org.refreshd"
    } else if let runtime = variables["XDG_RUNTIME_DIR"] {
      socket = "\(runtime)/refreshd/org.refreshd"
    } else if options.purpose == .run {
      throw StartError(.usage, "cannot tell where to listen: $XDG_RUNTIME_DIR is not set; log in as the user, or give --socket PATH")
    } else {
      socket = ""
    }
  }
}

/// The options as getopt_long(3) reads them.
private struct Options {
  var purpose = Settings.Purpose.run
  var isUserDaemon = false
  var config: String?
  var state: String?
  var socket: String?

  private static let table: [(name: StaticString, takesValue: Bool, code: UInt8)] = [
    ("user", false, UInt8(ascii: "u")), ("config", true, UInt8(ascii: "c")), ("state", true, UInt8(ascii: "s")),
    ("socket", true, UInt8(ascii: "l")), ("check", false, UInt8(ascii: "k")), ("help", false, UInt8(ascii: "h")),
    ("version", false, UInt8(ascii: "v")),
  ]

  init(_ arguments: [String]) throws(StartError) {
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var table = Self.table.map { entry in
      option(
        name: UnsafeRawPointer(entry.name.utf8Start).assumingMemoryBound(to: CChar.self),
        has_arg: entry.takesValue ? 1 : 0, flag: nil, val: Int32(entry.code))
    }
    table.append(option())
    optind = 1
    while true {
      let code = getopt_long(Int32(arguments.count), &words, "", table, nil)
      let value = optarg.map { String(cString: $0) }
      switch code {
      case -1:
        guard Int(optind) >= arguments.count else {
          throw StartError(.usage, "cannot use the argument \(arguments[Int(optind)]); see refreshd --help")
        }
        return
      case Int32(UInt8(ascii: "u")): isUserDaemon = true
      case Int32(UInt8(ascii: "c")): config = value
      case Int32(UInt8(ascii: "s")): state = value
      case Int32(UInt8(ascii: "l")): socket = value
      case Int32(UInt8(ascii: "k")): purpose = .check
      case Int32(UInt8(ascii: "h")): purpose = .help
      case Int32(UInt8(ascii: "v")): purpose = .version
      // getopt_long(3) has said what is wrong.
      default: throw StartError(.usage, "cannot read the command line; see refreshd --help")
      }
    }
  }
}

/// Looks up variables in an environment; one that is empty counts as not set, as the XDG specification has it.
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
