import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// Starts the tasks of refreshes and ends them.
///
/// There are two launchers: ``SpawnLauncher`` starts child processes, ``SystemdLauncher`` transient units of a service
/// manager. A launcher belongs to the event loop's thread.
///
/// It reports to one owner, given at its start. Each ``start(_:before:)`` leads to exactly one report of an end, and after
/// it no process of the task is left. A task that cannot start may be reported before the method that failed it returns;
/// ``RunningProcesses`` passes that on in the loop's next turn.
protocol Launcher: AnyObject {
  /// The reason why tasks cannot be started at present; nil if none is known.
  var problem: String? { get }

  /// The app of a task that runs as a child of the daemon; nil if it runs no such task.
  func app(of key: ProcessKey) -> AppID?

  /// The directories of the running tasks' cgroups, as far as each has its own.
  var cgroups: [String] { get }

  /// Starts a task; a key may be used again only after its end.
  ///
  /// `before` is the fingerprint of the watched path, for a daemon that adopts the task.
  func start(_ launch: TaskLaunch, before: Fingerprint?)

  /// Warns the main process of a task that the deadline is near, by SIGURG.
  ///
  /// A program that does not handle SIGURG ignores it (signal(7)).
  func warn(_ key: ProcessKey)

  /// Sends SIGTERM to all processes of a task.
  func terminate(_ key: ProcessKey)

  /// Sends SIGKILL to all processes of a task.
  func kill(_ key: ProcessKey)

  /// The remaining processes of a task, as far as they are known.
  func processes(of key: ProcessKey) -> [Int32]

  /// Drops the state of apps that are no longer configured.
  func forget(_ apps: Set<AppID>)

  /// Adopts the tasks of a previous daemon that still exist, and returns them.
  ///
  /// A launcher whose tasks end with the daemon adopts only tasks that no signal ends. Waits a few seconds at most.
  ///
  /// The daemon calls this at its start, before ``clean(leftFrom:)``. Each adopted task leads to one report of its end, as
  /// if this launcher had started it, also if it has ended meanwhile.
  ///
  /// `stored` are the descriptors that the service manager kept for this start; the launcher owns them now.
  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [ProcessKey: FoundTask]

  /// Ends the tasks of these runs that a previous daemon left and this one did not adopt.
  ///
  /// The daemon calls this at its start, before it starts anything, so that no task runs twice. Waits a few seconds at
  /// most.
  func clean(leftFrom runs: Set<RunID>)

  /// Saves the completion of a running task, in case another daemon reports its end.
  func keep(_ completion: TaskCompletion, of key: ProcessKey)

  /// Deletes the saved state of a run.
  ///
  /// The daemon calls this when the end of the last task is saved.
  func release(_ run: RunID)

  /// Finds the runs that survive the daemon's stop, because the next daemon can adopt all of their tasks.
  ///
  /// Answers at once or a moment later. There are none while the machine shuts down, so that their tasks end in order.
  func findSurvivors(answer: @escaping (Set<RunID>) -> Void)

  /// Finds out why the daemon is asked to stop; answers at once or within seconds.
  func findOccasion(answer: @escaping (StopOccasion) -> Void)

  /// Finds out whether a unit that an earlier keeper kept is still stopped or frozen; answers at once or within seconds.
  ///
  /// The answer is nil if the unit belongs to a service manager that the launcher does not ask, or that does not answer.
  func findLeft(_ unit: GuardedUnit, answer: @escaping (Bool?) -> Void)
}

/// The name of a process: a task of a refresh, or the command of another run.
struct ProcessKey: Hashable, Sendable, CustomStringConvertible {
  let run: RunID
  /// The index of the task in the app's file, from 0; 0 for another command.
  let task: Int

  /// The form in the name of its cgroup: `12-345-0`.
  var description: String { "\(run)-\(task)" }
}

extension ProcessKey {
  /// Names the one process of a run.
  init(_ run: Run) { self.init(run: run.id, task: 0) }
}

/// The parameters for the start of a task.
struct TaskLaunch: Sendable {
  let key: ProcessKey
  /// The app of the task.
  let app: AppID
  /// The program with its arguments, directory and group; the environment of the command is ignored.
  let command: Command
  /// The user that the task runs as.
  let owner: Owner
  /// The whole environment, as `NAME=value`.
  ///
  /// `REFRESH_ID` and `REFRESH_SOCKET` identify processes that outlive their task.
  let environment: [String]
  /// A description for people who look at the machine's processes.
  let description: String
  /// How long the task may run before SIGTERM, and how long after that before SIGKILL.
  ///
  /// The service manager applies these in case the daemon is gone.
  let timeLimit: Duration
  let grace: Duration
  /// The exit codes other than 0 that are no failure, for the service manager's report of the unit.
  var goodExits: [Int32] = []
  /// Whether the task gets a smaller share of processor and disk than the user's work.
  var givesWay = false
  /// The sandbox that the app's file asks for.
  ///
  /// Only a unit can have one, so the launcher `spawn` refuses the task.
  var sandbox = AppSandbox()
  /// The confinement of refresh-worker; nil for a program of the app, and without effect on a spawned task.
  var confinement: WorkerConfinement?
  /// The bytes on standard input; nil means `/dev/null`.
  let input: [UInt8]?
  /// The path whose change means new data; examined before and after the task.
  let changedPath: String?
}

/// A task that a previous daemon may have left, with the parameters that this daemon knows.
struct LeftTask: Sendable {
  let key: ProcessKey
  /// The app of the task.
  let app: AppID
  /// The command of the current configuration.
  let command: Command
  /// The user that the task runs as.
  let owner: Owner
  /// The path whose change means new data; the previous daemon examined it before the start.
  let changedPath: String?
}

/// An adopted task of a previous daemon.
struct FoundTask: Hashable, Sendable {
  /// The token with which the task may complete itself; nil if it is no longer known.
  let token: String?
  /// The completion that the task reported to the previous daemon.
  let completion: TaskCompletion?
  /// The fingerprint of the watched path before the start.
  var before: Fingerprint?
}

extension Launcher {
  func app(of key: ProcessKey) -> AppID? { nil }

  var cgroups: [String] { [] }

  func processes(of key: ProcessKey) -> [Int32] { [] }

  func findLeft(_ unit: GuardedUnit, answer: @escaping (Bool?) -> Void) { answer(nil) }
}

extension TaskEnd {
  /// Why a command did not do its work, in a sentence with `name` as its subject; nil if it did.
  func trouble(of name: String) -> String? {
    switch exit {
    case .exited(0): nil
    case .exited(let code): "\(name) ended with exit code \(code)"
    case .signalled(let signal): "\(name) was ended by \(signalName(signal))"
    case .notStarted(let reason), .noMeans(let reason): reason
    case .outOfMemory: "\(name) was killed because memory ran out"
    case .timedOut, .lostClient, .notTaken: "\(name) took too long"
    }
  }
}

/// A task's report about its own work, sent before it ends.
struct TaskCompletion: Hashable, Sendable {
  /// The outcome; a failure is ``Cause/reported(_:)``.
  let outcome: Outcome
  /// The message of the task; may be empty.
  let message: String
  /// The hints for the next refresh.
  let hints: Hints

  /// A task's hints for the next refresh.
  struct Hints: Hashable, Sendable {
    /// The earliest retry if the refresh fails, counted from its end.
    var retryAfter: Duration?
    /// How long after the end of the refresh nothing will be new, if the refresh succeeds.
    var freshFor: Duration?
  }

  init(_ outcome: Outcome, message: String, hints: Hints = Hints()) {
    (self.outcome, self.message, self.hints) = (outcome, message, hints)
  }

  /// Reads the form that ``text`` writes; nil for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    // Daemons without `freshFor` wrote three parts.
    guard (3...4).contains(parts.count), let bytes = [UInt8](hexadecimal: parts[2]) else { return nil }
    let message = String(decoding: bytes, as: UTF8.self)
    guard let outcome = Outcome.Kind(rawValue: String(parts[0])).flatMap({ Outcome($0, .reported(message)) }) else {
      return nil
    }
    (self.outcome, self.message) = (outcome, message)
    hints = Hints(
      retryAfter: Int64(parts[1]).map { .microseconds($0) },
      freshFor: parts.count == 4 ? Int64(parts[3]).map { .microseconds($0) } : nil)
  }

  /// The completion in one line without quotes, with any message.
  var text: String {
    let digits = message.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let spans = [hints.retryAfter, hints.freshFor].map { $0.map { String($0.inMicroseconds) } ?? "-" }
    return "\(outcome.kind.rawValue) \(spans[0]) \(digits) \(spans[1])"
  }
}

extension [UInt8] {
  fileprivate init?(hexadecimal text: some StringProtocol) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}

/// The launcher of a daemon, chosen by `refreshd.toml` and by the abilities of the machine.
struct ChosenLauncher {
  /// The kind of launcher and the reason for it.
  struct Choice: Hashable, Sendable {
    /// The setting at the daemon's start.
    let asked: LauncherChoice
    /// The name that `status` shows: `systemd` or `spawn`.
    let name: String
    /// The reason, in words that stand alone or follow a colon.
    let reason: String
  }

  let launcher: any Launcher
  let choice: Choice

  /// Makes the launcher for a setting; with `auto`, asks the service manager for at most ``Bus/patience``.
  ///
  /// Throws when a resource that every launcher needs is missing, such as a descriptor.
  init(_ asked: LauncherChoice, on loop: EventLoop, settings: DaemonSettings, for owner: any ProcessOwner) throws {
    let manager = Result { () throws(Unusable) in
      guard asked != .spawn else { throw Unusable(reason: "refreshd.toml says so") }
      return try Manager(of: settings)
    }
    let setup: SystemdLauncher.Setup?
    var absence: String?
    let reason: String
    switch (manager, asked) {
    case (.success(let manager), _):
      setup = manager.setup(for: settings)
      reason =
        asked == .auto ? "systemd \(manager.version) answers on the \(manager.bus.name)" : "refreshd.toml says so"
    case (.failure, .systemd):
      setup = Manager.expected(of: settings).setup(for: settings)
      reason = "refreshd.toml says so"
    case (.failure(let unusable), .auto) where unusable.mayPass:
      setup = Manager.expected(of: settings).setup(for: settings)
      absence = unusable.reason
      // It may answer by now; the launcher's problem says why not.
      reason = "systemd manages this machine"
    case (.failure(let unusable), _):
      setup = nil
      reason = unusable.reason
    }
    choice = Choice(asked: asked, name: setup == nil ? "spawn" : "systemd", reason: reason)
    guard let setup else {
      let left = LeftUnits(setup: Manager.expected(of: settings).setup(for: settings))
      launcher = try SpawnLauncher(on: loop, socket: settings.socket, left: left, for: owner)
      return
    }
    try Directory(path: settings.socketDirectory, purpose: "directory of the socket", option: "--socket PATH")
      .make(mode: 0o755)
    try Directory(path: setup.files, purpose: "directory of the tasks' environments", option: "--socket PATH")
      .make(mode: 0o700)
    launcher = try SystemdLauncher(on: loop, with: setup, absence: absence, for: owner)
  }

  /// The reason why the service manager cannot start tasks for this daemon.
  private struct Unusable: Error {
    let reason: String
    /// Whether the service manager may become usable later.
    var mayPass = false
  }

  /// The service manager of a daemon: the machine's for the system daemon, the user's own for a user's daemon.
  private struct Manager {
    let bus: BusAddress
    let version: String
    /// The path of its cgroup.
    let cgroup: String

    private init(bus: BusAddress, version: String, cgroup: String) {
      (self.bus, self.version, self.cgroup) = (bus, version, cgroup)
    }

    /// The manager that should be there.
    static func expected(of settings: DaemonSettings) -> Manager {
      settings.isUserDaemon
        ? Manager(bus: .user, version: "", cgroup: "/user.slice/user-\(getuid()).slice/user@\(getuid()).service")
        : Manager(bus: .system, version: "", cgroup: "")
    }

    /// Asks the manager on the bus.
    init(of settings: DaemonSettings) throws(Unusable) {
      let expected = Self.expected(of: settings)
      // The same test as sd_booted(3).
      guard access("/run/systemd/system", F_OK) == 0 else {
        throw Unusable(reason: "the machine was not booted with systemd")
      }
      guard settings.isUserDaemon || geteuid() == 0 else {
        throw Unusable(reason: "only root may have the machine's service manager start tasks")
      }
      let session: BusSession
      do throws(SystemdError) {
        session = try BusSession(expected.bus)
      } catch {
        throw Unusable(reason: "\(error)", mayPass: error.code == ETIMEDOUT || settings.isBoundUnit)
      }
      do throws(BusError) {
        let version = try session.call(ServiceManager.get("Version")).first?.text
        let cgroup = try session.call(ServiceManager.get("ControlGroup")).first?.text
        self.init(bus: expected.bus, version: version ?? "", cgroup: cgroup ?? expected.cgroup)
      } catch {
        // The machine's manager is away for a moment while it re-executes itself. A user's manager starts its units
        // before it is on the bus. Any other bus that has no service manager will not get one.
        let isAway = error.isWithoutAnswer || error.isNobodyThere && !settings.isUserDaemon || settings.isBoundUnit
        throw Unusable(reason: "no service manager answers on the \(expected.bus.name): \(error)", mayPass: isAway)
      }
    }

    func setup(for settings: DaemonSettings) -> SystemdLauncher.Setup {
      let mount = Cgroup.mounts.first { access("\($0)/cgroup.procs", F_OK) == 0 }
      return SystemdLauncher.Setup(
        bus: bus, isUserManager: settings.isUserDaemon,
        units: UnitNames(stateDirectory: settings.stateDirectory, isStandard: settings.hasStandardState),
        files: "\(settings.socketDirectory)/tasks", cgroup: (mount ?? Cgroup.mounts[0]) + cgroup)
    }
  }
}
