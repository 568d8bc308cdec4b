import Glibc
import RefreshConfig
import Systemd

/// The launcher of a daemon, by what `refreshd.toml` asks for and the machine has.
struct ChosenLauncher {
  /// Which launcher it is, and why.
  struct Choice: Hashable, Sendable {
    /// What the configuration asked for at the start.
    let asked: LauncherChoice
    /// As `status` has it: `systemd` or `spawn`.
    let name: String
    /// Why it is that one, in words that stand alone or follow a colon.
    let reason: String
  }

  let launcher: any Launcher
  let choice: Choice

  /// Makes the launcher that is asked for; asks the service manager, for ``Bus/patience`` at most, where that decides.
  ///
  /// Throws when what every launcher needs cannot be had, as descriptors.
  init(_ asked: LauncherChoice, on loop: EventLoop, settings: DaemonSettings) throws {
    let manager = Result { () throws(Unusable) in
      guard asked != .spawn else { throw Unusable(reason: "refreshd.toml says so") }
      return try Manager(of: settings)
    }
    let place: SystemdLauncher.Place?
    let reason: String
    switch (manager, asked) {
    case (.success(let manager), _):
      place = manager.place(for: settings)
      reason =
        asked == .auto ? "systemd \(manager.version) answers on the \(manager.bus.name)" : "refreshd.toml says so"
    case (.failure, .systemd):
      place = Manager.expected(of: settings).place(for: settings)
      reason = "refreshd.toml says so"
    case (.failure(let unusable), .auto) where unusable.mayPass:
      place = Manager.expected(of: settings).place(for: settings)
      reason = "the machine was booted with systemd, which did not answer at the start: \(unusable.reason)"
    case (.failure(let unusable), _):
      place = nil
      reason = unusable.reason
    }
    choice = Choice(asked: asked, name: place == nil ? "spawn" : "systemd", reason: reason)
    guard let place else {
      let left = LeftUnits(place: Manager.expected(of: settings).place(for: settings))
      launcher = try SpawnLauncher(on: loop, socket: settings.socket, left: left)
      return
    }
    try Directory(path: settings.socketDirectory, purpose: "directory of the socket", option: "--socket PATH")
      .make(mode: 0o755)
    try Directory(path: place.files, purpose: "directory of the tasks' environments", option: "--socket PATH")
      .make(mode: 0o700)
    launcher = try SystemdLauncher(on: loop, at: place)
  }

  /// Why a service manager cannot start tasks for this daemon.
  private struct Unusable: Error {
    let reason: String
    /// Whether it may be that it can later.
    var mayPass = false
  }

  /// The service manager that a daemon would have: the machine's for the system's, the user's own for a user's.
  private struct Manager {
    let bus: BusAddress
    let version: String
    /// The path of its cgroup.
    let cgroup: String

    private init(bus: BusAddress, version: String, cgroup: String) {
      (self.bus, self.version, self.cgroup) = (bus, version, cgroup)
    }

    /// The one that should be there.
    static func expected(of settings: DaemonSettings) -> Manager {
      settings.isUserDaemon
        ? Manager(bus: .user, version: "", cgroup: "/user.slice/user-\(getuid()).slice/user@\(getuid()).service")
        : Manager(bus: .system, version: "", cgroup: "")
    }

    /// The one that answers.
    init(of settings: DaemonSettings) throws(Unusable) {
      let expected = Self.expected(of: settings)
      // As sd_booted(3) looks.
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
        throw Unusable(reason: "\(error)", mayPass: error.code == ETIMEDOUT)
      }
      do throws(BusError) {
        let version = try session.call(ServiceManager.get("Version")).first?.text
        let cgroup = try session.call(ServiceManager.get("ControlGroup")).first?.text
        self.init(bus: expected.bus, version: version ?? "", cgroup: cgroup ?? expected.cgroup)
      } catch {
        // The machine's own is away for a moment when it executes itself anew; a bus of a user may never have had one.
        let isAway = error.isWithoutAnswer || error.isNobodyThere && !settings.isUserDaemon
        throw Unusable(reason: "no service manager answers on the \(expected.bus.name): \(error)", mayPass: isAway)
      }
    }

    func place(for settings: DaemonSettings) -> SystemdLauncher.Place {
      let mount = Cgroup.mounts.first { access("\($0)/cgroup.procs", F_OK) == 0 }
      return SystemdLauncher.Place(
        bus: bus, isUserManager: settings.isUserDaemon,
        units: UnitNames(stateDirectory: settings.stateDirectory, isStandard: settings.hasStandardState),
        files: "\(settings.socketDirectory)/tasks", cgroup: (mount ?? Cgroup.mounts[0]) + cgroup)
    }
  }
}
