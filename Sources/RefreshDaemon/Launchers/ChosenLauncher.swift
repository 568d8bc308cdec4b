import Glibc
import RefreshConfig
import Systemd

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
        // before it is on the bus; a bus that no manager of the user runs has none at all.
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
