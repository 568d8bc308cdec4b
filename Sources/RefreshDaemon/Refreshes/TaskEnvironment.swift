import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine

/// Makes the environment variables of commands.
struct TaskEnvironment {
  /// The variables of every command: `PATH` and language; a user's daemon passes on its whole session.
  private let inherited: [String]
  /// The runtime directory of the user of a user's own daemon; nil for the system's.
  private let runtimeDirectory: String?
  /// Whether this is a user's own daemon.
  private let isOfUser: Bool
  /// The path of the daemon's socket.
  private let socket: String
  /// The path of `refresh-worker`; its usual path if it is not found, for the error at its start.
  let worker: String

  /// The variables of the daemon's own service, which would mislead a task (systemd.exec(5), sd_notify(3)).
  private static let ofTheService: Set<Substring> = [
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "JOURNAL_STREAM",
    "INVOCATION_ID", "MAINPID", "SYSTEMD_EXEC_PID", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY",
  ]
  /// The variables that a system daemon passes on: the paths of programs, and their language.
  private static let ofTheSystem: Set<Substring> = ["PATH", "LANG", "LC_ALL", "LC_MESSAGES", "TZ"]

  /// Chooses the variables that commands inherit from the daemon.
  init(_ settings: DaemonSettings) {
    (socket, isOfUser) = (settings.socket, settings.isUserDaemon)
    let runtime = settings.environment.first { settings.isUserDaemon && $0.hasPrefix("XDG_RUNTIME_DIR=/") }
    runtimeDirectory = runtime.map { String($0.dropFirst("XDG_RUNTIME_DIR=".count)) }
    worker = settings.reader.worker ?? "/usr/libexec/refreshd/refresh-worker"
    var inherited = settings.environment.filter { variable in
      let name = variable.prefix { $0 != "=" }
      return settings.isUserDaemon ? !Self.ofTheService.contains(name) : Self.ofTheSystem.contains(name)
    }
    if !inherited.contains(where: { $0.hasPrefix("PATH=") }) {
      inherited.append("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    }
    self.inherited = inherited
  }

  /// The environment of one task.
  ///
  /// `deadline` is when the refresh is asked to end, in microseconds of the wall clock. The task gets whole seconds
  /// since 1970, rounded down, to compare with `date +%s`.
  func variables(
    of command: Command, app: AppConfiguration, refresh: RefreshID, trigger: Trigger, session: String?,
    tries: Int?, contentID: String?, deadline: Int64, token: String
  ) -> [String] {
    var refreshing = [
      "REFRESH_APP=\(app.id)", "REFRESH_ID=\(refresh)", "REFRESH_TRIGGER=\(trigger.rawValue)",
      "REFRESH_DEADLINE=\(deadline / 1_000_000)", "REFRESH_SOCKET=\(socket)", "REFRESH_TOKEN=\(token)",
    ]
    if let session { refreshing.append("REFRESH_SESSION=\(session)") }
    if let tries { refreshing.append("REFRESH_TRY=\(tries)") }
    if let contentID { refreshing.append("REFRESH_CONTENT_ID=\(contentID)") }
    if let bounds = bounds(command.builtIn?.bounds) { refreshing.append(bounds.variable) }
    return variables(of: command, app, refreshing)
  }

  /// The environment of an `on_stale` or `on_held` command, with its report.
  ///
  /// The id of the run, with the socket, marks the processes of the command.
  func variables(
    ofNotifyCommand command: Command, app: AppConfiguration, run: Run, _ facts: [(name: String, value: String)]
  ) -> [String] {
    variables(
      of: command, app,
      ["REFRESH_APP=\(app.id)", "REFRESH_ID=\(run.id)", "REFRESH_SOCKET=\(socket)"]
        + facts.map { "\($0.name)=\($0.value)" })
  }

  /// The environment of a worker that moves files, for a Flatpak with the bounds of its files.
  func variables(
    ofWorker command: Command, app: AppConfiguration, run: Run, token: String, flatpak: String? = nil,
    bounds: Wire.WorkerBounds? = nil
  ) -> [String] {
    let files = flatpak.map { self.files(of: $0, of: app.owner) }
    return variables(
      of: command, app,
      [
        "REFRESH_APP=\(app.id)", "REFRESH_ID=\(run.id)", "REFRESH_SOCKET=\(socket)", "REFRESH_TOKEN=\(token)",
      ]
        + (files.map { ["REFRESH_FLATPAK_FOLDER=\($0.folder)", "REFRESH_FLATPAK_DOCUMENTS=\($0.documents)"] } ?? [])
        + (bounds.map { [$0.variable] } ?? []))
  }

  /// The bounds that a worker with these files sets itself; nil for the system's daemon, where the worker has a view.
  func bounds(_ needed: Wire.WorkerBounds?) -> Wire.WorkerBounds? { isOfUser ? needed : nil }

  /// The files that a Flatpak of a user may name.
  ///
  /// The home is that of the user database.
  func files(of flatpak: String, of owner: Owner) -> FlatpakFiles {
    FlatpakFiles(of: flatpak, home: owner.home, runtimeDirectory: runtimeDirectory ?? "/run/user/\(owner.uid)")
  }

  /// The environment of a command that shows a notice on the owner's desktop, through the owner's session bus.
  func variables(ofNotice command: Command, app: AppConfiguration, run: Run) -> [String] {
    let own = variables(
      of: command, app, ["REFRESH_APP=\(app.id)", "REFRESH_ID=\(run.id)", "REFRESH_SOCKET=\(socket)"])
    let runtime = "/run/user/\(app.owner.uid)"
    return Self.merged([["XDG_RUNTIME_DIR=\(runtime)", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(runtime)/bus"], own])
  }

  private func variables(of command: Command, _ app: AppConfiguration, _ own: [String]) -> [String] {
    let user = [
      "HOME=\(app.owner.home)", "USER=\(app.owner.name)", "LOGNAME=\(app.owner.name)",
    ]
    return Self.merged([inherited, user, command.environment, own])
  }

  private static func merged(_ layers: [[String]]) -> [String] {
    var taken: Set<Substring> = []
    var variables: [String] = []
    for layer in layers.reversed() {
      for variable in layer where taken.insert(variable.prefix { $0 != "=" }).inserted { variables.append(variable) }
    }
    return variables
  }
}
