import Glibc
import RefreshAPI

/// The settings of the program from its command line and environment.
struct SessionSettings: Sendable {
  /// The action that the command line asks for.
  enum Purpose: Hashable, Sendable {
    case run
    case list
    case help
    case version
  }

  private(set) var purpose = Purpose.run
  /// The sockets of the daemons that get reports.
  private(set) var sockets: [SocketPath] = []
  /// The time without input after which the compositor reports an idle user, in milliseconds.
  private(set) var idleAfter: UInt32 = 300_000
  /// The socket of the Wayland compositor; nil outside of such a session.
  let wayland: String?
  /// The X display, such as `:0`; nil outside of such a session.
  let display: String?
  /// The names of the desktop, such as `GNOME` (`XDG_CURRENT_DESKTOP`).
  let desktops: [String]
  /// The user's folder for files of this login; nil outside of a login.
  let runtime: String?
  /// The folders with desktop files; earlier folders take precedence.
  let applications: [String]

  /// The text of `refresh-session --help`.
  static let help = """
    Usage: refresh-session [--socket PATH] [--idle-after SECONDS] [--list]

    Tells refreshd which apps of the user run and which is in front, as units, bus names and windows show it. Runs in the
    user's session, in the foreground, until SIGTERM.

      --list         print what is open now, with the id of each for `desktop` in an app's file
      --socket PATH  tell the refreshd that listens there (else at
                     $REFRESH_SOCKET, else the user's own and the system's)
      --idle-after SECONDS  count nobody as there after this time without input, 1 to 86400 (300), under compositors with
                     ext_idle_notifier_v1
      --version      print the version
      --help         print this

    Exit codes: 0 stopped by a signal; 64 wrong usage; 70 the machine lacks something.

    """

  /// Reads the command line and the environment.
  ///
  /// `arguments[0]` is the program's name; an empty variable counts as unset.
  init(
    arguments: [String], environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) throws(ServiceError) {
    func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let runtime = variable("XDG_RUNTIME_DIR")
    self.runtime = runtime
    var named: String?
    var options = CommandLineOptions(arguments, of: "refresh-session")
    while let name = try options.next() {
      switch name {
      case "--list": purpose = .list
      case "--help", "-h": purpose = .help
      case "--version": purpose = .version
      case "--socket": named = try options.value()
      case "--idle-after":
        guard let seconds = UInt32(try options.value()), (1...86_400).contains(seconds) else {
          throw ServiceError(.usage, "cannot use --idle-after without a number of seconds from 1 to 86400")
        }
        idleAfter = seconds * 1000
      default: throw options.unknown
      }
    }
    wayland = variable("WAYLAND_DISPLAY").flatMap { name in
      name.hasPrefix("/") ? name : runtime.map { "\($0)/\(name)" }
    }
    display = variable("DISPLAY")
    desktops = variable("XDG_CURRENT_DESKTOP").map { $0.split(separator: ":").map(String.init) } ?? []
    let home = variable("XDG_DATA_HOME") ?? variable("HOME").map { "\($0)/.local/share" }
    let shared = variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
    applications = ([home].compactMap(\.self) + shared.split(separator: ":").map(String.init)).map {
      "\($0)/applications"
    }
    if let named = named ?? variable("REFRESH_SOCKET") {
      sockets = [SocketPath(path: named, daemon: .named)]
    } else {
      sockets = [runtime.map(SocketPath.ofUser), .system].compactMap(\.self)
    }
  }
}
