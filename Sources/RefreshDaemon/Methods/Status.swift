import CLinux
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Shows the state of the daemon; to a user without further rights, the part about that user's apps.
  func status(_ call: Call<ManagerInterface.Status.Parameters>) {
    guard core.access.maySeeOwn(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy))
    }
    let now = core.readClocks()
    let apps = apps(for: call.peer)
    let seesAll = core.access.mayAll(call.peer)
    let scope = StatusScope(apps, isAll: seesAll, of: core.engine, at: now)
    let transfers = seesAll ? core.engine.transferCounts : nil
    call.reply(
      ManagerInterface.Status.Reply(
        status: Wire.DaemonStatus(
          version: refreshdVersion, start: Int(core.engine.start),
          sinceMicroseconds: core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset),
          isUserDaemon: ports.settings.isUserDaemon, socket: ports.settings.socket,
          launcher: ports.choice.name, launcherReason: launcherReason,
          apps: apps.count, refreshing: scope.refreshing,
          transferring: transfers?.running, transfersWaiting: transfers?.waiting,
          next: scope.next, held: scope.held, pushesWaiting: scope.pushesWaiting,
          hasAppsOfOthers: hasAppsOfOthers(than: apps, for: call.peer),
          pause: core.engine.wirePause,
          configuration: configurationState(of: apps, seesAll: seesAll),
          store: Wire.StoreState(
            directory: ports.settings.stateDirectory, problem: saving.problem?.description,
            isSilent: saving.problem?.code == .unanswered ? true : nil),
          stuck: stuck(of: apps), push: seesAll ? pushes.bridge.state : nil,
          isBridgeMissing: core.configuration.namesPushSources && pushes.bridge.state == nil ? true : nil,
          desktops: desktopStates(for: call.peer, seesAll: seesAll),
          launcherProblem: ports.launcher.problem, unconfined: unconfined,
          guards: guards(among: apps, at: now), unwatched: unwatched(of: apps), pings: failedPings(of: apps),
          troubled: troubled(among: apps, at: now))))
  }

  /// The configuration in force, with the mistakes in the files of some apps, or with all mistakes.
  private func configurationState(of apps: [AppConfiguration], seesAll: Bool) -> Wire.ConfigurationState {
    let files = seesAll ? [] : Set(apps.map(\.file))
    func shown(_ problems: [Problem]) -> [Wire.Problem] {
      problems.filter { seesAll || files.contains($0.file) }.map(Wire.Problem.init)
    }
    let held = shown(core.configuration.held)
    return Wire.ConfigurationState(
      directories: ports.files.directories, sinceMicroseconds: core.configuration.sinceMicroseconds,
      problems: shown(core.configuration.refused), held: held.isEmpty ? nil : held)
  }

  private func unwatched(of apps: [AppConfiguration]) -> [Wire.WatchedFolder]? {
    let unwatched = apps.flatMap(changes.states).filter { $0.state.problem != nil }.map(Wire.WatchedFolder.init)
    return unwatched.isEmpty ? nil : unwatched
  }

  private func desktopStates(for peer: Peer, seesAll: Bool) -> [Wire.DesktopSession]? {
    let states = sessions.desktops.states(of: seesAll ? nil : peer.uid)
    return states.isEmpty ? nil : states
  }

  private func guards(among apps: [AppConfiguration], at now: Instant) -> [Wire.Guard]? {
    let guards = apps.compactMap { app -> Wire.Guard? in
      guard let state = core.engine.guardState(of: app.id) else { return nil }
      var holds: [String] = []
      if case .held(let found) = core.engine.verdict(on: app.id, at: now) { holds = found.map(\.name.rawValue) }
      return Wire.Guard(app: app.id.description, guarded: Wire.Guarded(state), holds: holds)
    }
    return guards.isEmpty ? nil : guards
  }

  private func stuck(of apps: [AppConfiguration]) -> [Wire.StuckRefresh]? {
    let ids = Set(apps.map(\.id))
    let stuck = core.engine.stuckRefreshes.filter { ids.contains($0.value) }.sorted { $0.key < $1.key }
    return stuck.isEmpty
      ? nil
      : stuck.map { refresh, app in
        Wire.StuckRefresh(
          app: app.description, refresh: refresh.description, pids: runner.processes(of: refresh).map(Int.init))
      }
  }

  /// The most failed pings, and the most apps that need attention, to show.
  private static let mostShown = 100

  private func failedPings(of apps: [AppConfiguration]) -> [Wire.PingProblem]? {
    let failed = apps.lazy.compactMap { self.pingProblem(of: $0.id) }.prefix(Self.mostShown)
    return failed.isEmpty ? nil : Array(failed)
  }

  private func troubled(among apps: [AppConfiguration], at now: Instant) -> [Wire.TroubledApp]? {
    let troubled = apps.lazy.compactMap { app in
      self.core.engine.trouble(of: app.id, at: now).map { self.view(of: $0, app.id) }
    }
    let shown = Array(troubled.prefix(Self.mostShown))
    return shown.isEmpty ? nil : shown
  }

  private func view(of trouble: Trouble, _ app: AppID) -> Wire.TroubledApp {
    let (kind, instant): (Wire.Trouble, Instant?) =
      switch trouble {
      case .failing: (.failing, nil)
      case .resting(let until): (.resting, until)
      case .neverWorked(let since): (.neverWorked, since)
      case .late(let since): (.late, since)
      }
    return Wire.TroubledApp(
      app: app.description, trouble: kind, failures: core.engine.state(of: app)?.streak.map { Int($0.count) },
      atMicroseconds: instant?.wallMicroseconds(at: core.engine.wallOffset))
  }

  /// The last ping of an app, if it failed.
  func pingProblem(of app: AppID) -> Wire.PingProblem? {
    commands.pings.problem(of: app).map {
      Wire.PingProblem(app: app.description, problem: $0.text, atMicroseconds: core.wall($0.at))
    }
  }

  /// Why refresh-worker is not confined, and what it may write; nil if it is confined everywhere.
  var unconfined: String? {
    let words = [unviewed, hasUnboundFlatpaks ? "the kernel has no Landlock for transfers of sandboxed apps" : nil]
    let known = words.compactMap(\.self)
    return known.isEmpty ? nil : known.joined(separator: "; ")
  }

  /// Whether sandboxed apps have transfers, which only the worker itself keeps to their files.
  private var hasUnboundFlatpaks: Bool { linux_landlock_rights() == 0 && transfers.hasFlatpaks }

  private var unviewed: String? {
    if ports.choice.name == "spawn" { return "refresh-worker is a child process, which only gives up its privileges" }
    if ports.settings.isUserDaemon {
      return "refresh-worker may write all files of the user: a user's units have no view of their own"
    }
    let folders = transfers.workers.folders.unviewable.sorted()
    guard let first = folders.first else { return nil }
    let more = folders.count > 1 ? " and in \(folders.count - 1) more" : ""
    return "refresh-worker may write all files of the owner in \(first)\(more): systemd could not open that folder"
  }

  private var launcherReason: String {
    let problem = ports.launcher.problem.map { [$0] } ?? []
    return ([ports.choice.reason] + problem + ports.launcher.overduePaths).joined(separator: "; ")
  }
}
