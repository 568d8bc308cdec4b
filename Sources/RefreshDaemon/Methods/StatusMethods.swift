import CLinux
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds the methods about the daemon itself.
  func serveStatus(_ interface: inout Interface) {
    interface.serve(ManagerInterface.Status.self, as: .query, forPeople { self.status($0) })
    interface.serve(ManagerInterface.Metrics.self, as: .query, forPeople { self.metrics($0) })
    interface.serve(ManagerInterface.Version.self, as: .query) { self.version($0) }
    interface.serve(ManagerInterface.Check.self, as: .work, forPeople { self.check($0) })
    interface.serve(ManagerInterface.Reload.self, forPeople { self.reload($0) })
  }

  /// Shows the state of the daemon; to a user without further rights, the part about that user's apps.
  func status(_ call: Call<ManagerInterface.Status.Parameters>) {
    guard core.access.maySeeOwn(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy))
    }
    var scope = StatusScope()
    inTurns(core.configuration.apps, for: call) { app, now, nights in
      if self.core.access.may(call.peer, about: app) { scope.add(app, self, at: now, &nights) }
    } then: {
      call.reply(ManagerInterface.Status.Reply(status: self.status(of: scope, for: call.peer)))
    }
  }

  private func status(of scope: StatusScope, for peer: Peer) -> Wire.DaemonStatus {
    let seesAll = core.access.mayAll(peer)
    let transfers = seesAll ? core.engine.transferCounts : nil
    let stuck = stuck(for: peer)
    return Wire.DaemonStatus(
      version: refreshdVersion, start: Int(core.engine.start),
      sinceMicroseconds: core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset),
      isUserDaemon: ports.settings.isUserDaemon, socket: ports.settings.socket,
      launcher: ports.choice.name, launcherReason: launcherReason, apps: scope.apps,
      refreshing: seesAll ? core.engine.refreshingCount : max(0, scope.refreshing - stuck.count),
      transferring: transfers?.running, transfersWaiting: transfers?.waiting,
      next: scope.next(wallOffset: core.engine.wallOffset), held: scope.held,
      pushesWaiting: scope.pushesWaiting > 0 ? scope.pushesWaiting : nil,
      hasAppsOfOthers: hasAppsOfOthers(than: scope.apps, for: peer), pause: core.engine.wirePause,
      configuration: configurationState(for: peer, seesAll: seesAll),
      store: Wire.StoreState(
        directory: ports.settings.stateDirectory, problem: saving.problem?.description,
        isSilent: saving.problem?.code == .unanswered ? true : nil),
      stuck: stuck.isEmpty ? nil : stuck, push: seesAll ? pushes.bridge.state : nil,
      isBridgeMissing: core.configuration.namesPushSources && pushes.bridge.state == nil ? true : nil,
      desktops: desktopStates(for: peer, seesAll: seesAll),
      launcherProblem: ports.processes.problem, unconfined: unconfined,
      guards: scope.guards.isEmpty ? nil : scope.guards, unwatched: scope.unwatched.isEmpty ? nil : scope.unwatched,
      pings: scope.pings.isEmpty ? nil : scope.pings, troubled: scope.troubled.isEmpty ? nil : scope.troubled)
  }

  /// The configuration in force, with the mistakes in the files of the caller's apps, or with all mistakes.
  private func configurationState(for peer: Peer, seesAll: Bool) -> Wire.ConfigurationState {
    let (refused, held) = (core.configuration.refused, core.configuration.held)
    let files = seesAll || refused.isEmpty && held.isEmpty ? [] : Set(apps(for: peer).map(\.file))
    func shown(_ problems: [Problem]) -> [Wire.Problem] {
      problems.filter { seesAll || files.contains($0.file) }.map(Wire.Problem.init)
    }
    let shownHeld = shown(held)
    return Wire.ConfigurationState(
      directories: ports.files.directories, sinceMicroseconds: core.configuration.sinceMicroseconds,
      problems: shown(refused), held: shownHeld.isEmpty ? nil : shownHeld)
  }

  private func desktopStates(for peer: Peer, seesAll: Bool) -> [Wire.DesktopSession]? {
    let states = desktops.states(of: seesAll ? nil : peer.uid)
    return states.isEmpty ? nil : states
  }

  private func stuck(for peer: Peer) -> [Wire.StuckRefresh] {
    let stuck = core.engine.stuckRefreshes.filter { _, app in
      core.configuration[app].map { core.access.may(peer, about: $0) } ?? false
    }
    return stuck.sorted { $0.key < $1.key }.map { refresh, app in
      Wire.StuckRefresh(
        app: app.description, refresh: refresh.description, pids: runner.processes(of: refresh).map(Int.init))
    }
  }

  /// The last ping of an app, if it failed.
  func pingProblem(of app: AppID) -> Wire.PingProblem? {
    pings.problem(of: app).map {
      Wire.PingProblem(app: app.description, problem: $0.text, atMicroseconds: core.wall($0.at))
    }
  }

  /// Why refresh-worker is not confined, and what it may write; nil if it is confined everywhere.
  var unconfined: String? {
    let isUserDaemon = ports.settings.isUserDaemon
    if isUserDaemon, linux_landlock_rights() == 0 {
      return "refresh-worker may write all files of the user: a user's units have no view of their own, and the kernel "
        + "has no Landlock"
    }
    if ports.choice.name == "spawn" {
      return "refresh-worker is a child process, which only gives up its privileges"
        + (isUserDaemon ? " and binds itself to its files" : "")
    }
    if isUserDaemon { return nil }
    let folders = transfers.workers.folders.unviewable.sorted()
    guard let first = folders.first else { return nil }
    let more = folders.count > 1 ? " and in \(folders.count - 1) more" : ""
    return "refresh-worker may write all files of the owner in \(first)\(more): systemd could not open that folder"
  }

  private var launcherReason: String {
    let problem = ports.processes.problem.map { [$0] } ?? []
    return ([ports.choice.reason] + problem + ports.processes.overduePaths).joined(separator: "; ")
  }
}

// The questions of monitoring.

extension Daemon {
  /// Tells anyone the daemon's version.
  func version(_ call: Call<ManagerInterface.Version.Parameters>) {
    call.reply(ManagerInterface.Version.Reply(version: refreshdVersion, start: Int(core.engine.start)))
  }

  /// Gives all metrics as OpenMetrics text.
  func metrics(_ call: Call<ManagerInterface.Metrics.Parameters>) {
    guard mayAll(call) else { return }
    call.reply(ManagerInterface.Metrics.Reply(text: metricsText(at: core.readClocks())))
  }

  /// Puts the configuration on disk in force, except for apps that were held already, or answers with the mistakes.
  func reload(_ call: Call<ManagerInterface.Reload.Parameters>) {
    guard mayAll(call) else { return }
    reload { problems in
      if problems.isEmpty {
        let held = self.core.configuration.held.map(Wire.Problem.init)
        call.reply(ManagerInterface.Reload.Reply(held: held.isEmpty ? nil : held))
      } else {
        call.fail(ManagerInterface.BadConfiguration(problems: problems.map(Wire.Problem.init)))
      }
    }
  }

  /// Answers with every mistake in the configuration on disk, and changes nothing.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard mayAll(call) else { return }
    files.problems { problems in
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}
