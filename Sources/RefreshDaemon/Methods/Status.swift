import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Shows the state of the daemon itself.
  func status(_ call: Call<ManagerInterface.Status.Parameters>) {
    guard mayAll(call) else { return }
    let now = core.readClocks()
    call.reply(
      ManagerInterface.Status.Reply(
        status: Wire.DaemonStatus(
          version: refreshdVersion, start: Int(core.engine.start),
          sinceMicroseconds: core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset),
          isUserDaemon: settings.isUserDaemon, socket: settings.socket, launcher: ports.choice.name,
          launcherReason: launcherReason,
          apps: core.configuration.apps.count, refreshing: core.engine.refreshingCount,
          transferring: core.engine.transferCounts.running, transfersWaiting: core.engine.transferCounts.waiting,
          next: next(after: now),
          pause: core.engine.wirePause,
          configuration: Wire.ConfigurationState(
            directories: ports.files.directories, sinceMicroseconds: core.configuration.sinceMicroseconds,
            problems: core.configuration.refused.map(Wire.Problem.init), held: heldProblems),
          store: Wire.StoreState(
            directory: settings.stateDirectory, problem: saving.problem?.description,
            isSilent: saving.problem?.code == .unanswered ? true : nil),
          stuck: stuck, push: pushes.bridge.state, launcherProblem: ports.launcher.problem,
          unconfined: unconfined)))
  }

  private var heldProblems: [Wire.Problem]? {
    core.configuration.held.isEmpty ? nil : core.configuration.held.map(Wire.Problem.init)
  }

  private var stuck: [Wire.StuckRefresh]? {
    let stuck = core.engine.stuckRefreshes.sorted { $0.key < $1.key }
    return stuck.isEmpty
      ? nil
      : stuck.map { refresh, app in
        Wire.StuckRefresh(
          app: app.description, refresh: refresh.description, pids: runner.processes(of: refresh).map(Int.init))
      }
  }

  /// Where the confinement of refresh-worker does not apply, and what it may do there.
  var unconfined: String? {
    if ports.choice.name == "spawn" { return "refresh-worker is a child process, which only gives up its privileges" }
    if settings.isUserDaemon {
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

  private func next(after now: Instant) -> Wire.NextRefresh? {
    let due = core.configuration.apps.map(\.id).compactMap { id -> (Instant, AppID)? in
      if case .notDue(let until) = core.engine.verdict(on: id, at: now) { (until, id) } else { nil }
    }
    return due.min { $0 < $1 }.map { instant, app in
      Wire.NextRefresh(app: app.description, dueMicroseconds: instant.wallMicroseconds(at: core.engine.wallOffset))
    }
  }

  /// Tells anyone the daemon's version.
  func version(_ call: Call<ManagerInterface.Version.Parameters>) {
    call.reply(ManagerInterface.Version.Reply(version: refreshdVersion, start: Int(core.engine.start)))
  }

  /// Gives all metrics as OpenMetrics text.
  func metrics(_ call: Call<ManagerInterface.Metrics.Parameters>) {
    guard mayAll(call) else { return }
    call.reply(ManagerInterface.Metrics.Reply(text: metricsText(at: core.readClocks())))
  }
}
