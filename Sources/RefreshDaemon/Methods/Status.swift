import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells how the daemon itself is.
  func status(_ call: Call<ManagerInterface.Status.Parameters>) {
    guard access.mayAll(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: access.remedy))
    }
    let now = readClocks()
    call.reply(
      ManagerInterface.Status.Reply(
        status: Wire.DaemonStatus(
          version: refreshdVersion, start: Int(engine.start),
          sinceMicroseconds: startedAt.instant.wallMicroseconds(at: engine.wallOffset),
          isUserDaemon: settings.isUserDaemon, socket: settings.socket, launcher: choice.name,
          launcherReason: launcherReason,
          apps: configuration.apps.count, refreshing: engine.refreshingCount,
          transferring: engine.transferCounts.running, transfersWaiting: engine.transferCounts.waiting,
          next: next(after: now),
          pause: pauseState,
          configuration: Wire.ConfigurationState(
            directories: reader.sources.directories, sinceMicroseconds: configuration.sinceMicroseconds,
            problems: configuration.refused.map(Wire.Problem.init)),
          store: Wire.StoreState(directory: settings.stateDirectory, problem: storeProblem?.description),
          push: pushState)))
  }

  private var launcherReason: String {
    launcher.problem.map { "\(choice.reason); \($0)" } ?? choice.reason
  }

  private func next(after now: Instant) -> Wire.NextRefresh? {
    let due = configuration.apps.map(\.id).compactMap { id -> (Instant, AppID)? in
      if case .notDue(let until) = engine.verdict(on: id, at: now) { (until, id) } else { nil }
    }
    return due.min { $0 < $1 }.map { instant, app in
      Wire.NextRefresh(app: app.description, dueMicroseconds: instant.wallMicroseconds(at: engine.wallOffset))
    }
  }
}
