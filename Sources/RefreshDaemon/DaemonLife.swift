import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

// Reloading and stopping: what the service manager asks of a daemon.

extension Daemon {
  /// What a drain takes beside the longest grace, in microseconds: the kill, and the last commit.
  private static let drainMargin: Int64 = 5_000_000

  private var longestGrace: Int64 {
    configuration.apps.map(\.policy.grace.inMicroseconds).max() ?? 0
  }

  /// What `systemctl status` shows.
  var statusLine: String {
    StatusLine.text(
      apps: configuration.apps.count, problems: configuration.refused.map(\.description),
      storeProblem: storeProblem?.description, stopping: engine.isStopping ? engine.refreshingCount - left.count : nil)
  }

  /// Reads the configuration and puts it in force, all of it or, where there is a mistake, nothing.
  func reload() async -> [Problem] {
    notify(.reloading(monotonicMicroseconds: EventLoop.monotonicMicroseconds()))
    let problems: [Problem]
    do throws(ConfigurationError) {
      let next = InForce(try await reader.read(), at: Moment.now())
      let apps = Set(configuration.apps.map(\.id))
      configuration = next
      launcher.forgetUsers()
      launcher.forget(apps.subtracting(configuration.apps.map(\.id)))
      watch()
      giveOrders()
      keepingRuns { handle(configuration.event) }
      forgetOldFetches()
      for id in attachments.apps { settleAttachments(of: id) }
      follow(needsSessions ? sessions.users : nil)
      if configuration.launcher != choice.asked { journal.keepsLauncher(choice, until: configuration.launcher) }
      for id in refreshes.awaited where configuration[id] == nil { giveUpWaiting(for: id, .notConfigured) }
      journal.configured(apps: configuration.apps.count)
      problems = []
    } catch {
      configuration.refused = error.problems
      journal.refused(error.problems)
      problems = error.problems
    }
    notify(.ready)
    Memory.giveBack()
    return problems
  }

  /// Reloads for SIGHUP, which has nobody to answer: the journal and `STATUS=` say how it went.
  func reloadOnSignal() {
    Task { _ = await self.reload() }
  }

  /// Stops: what the next daemon finds again is left running, what else runs is asked to end, and is killed when its grace
  /// has passed or when this is asked a second time.
  func stop() {
    guard !engine.isStopping else {
      for refresh in engine.refreshes where !left.contains(refresh) { kill(refresh) }
      return endWorkers(isUrgent: true)
    }
    launcher.findSurvivors { self.stop(leaving: $0) }
  }

  private func stop(leaving stays: Set<RefreshID>) {
    guard !engine.isStopping else { return }
    left = stays.intersection(engine.refreshes)
    handle(.stopped(leaving: left))
    for key in tellings.keys { launcher.kill(key) }
    endWorkers(isUrgent: false)
    let ending = engine.refreshingCount - left.count
    journal.stopping(refreshing: ending, left: left.count)
    notify(.stopping)
    if ending > 0 || !workers.isEmpty { notify(.extendTimeout(microseconds: Self.drainMargin + longestGrace)) }
    for id in refreshes.awaited { giveUpWaiting(for: id, .stopping) }
    commitSoon()
  }

  /// Ends the loop once nothing runs that is not left, and all is saved.
  func leaveIfDone() {
    guard engine.isStopping, left.isSuperset(of: engine.refreshes), pending.isEmpty, tellings.keys.isEmpty,
      workers.isEmpty,
      !isLeaving
    else { return }
    isLeaving = true
    server?.close()
    Task {
      await store.close()
      loop.exit(0)
    }
  }

  /// Answers those who asked for a refresh of an app that will not start, and why.
  func giveUpWaiting(for id: AppID, _ hold: Hold) {
    let app = id.description
    for call in refreshes.stopWaiting(for: id) {
      call.fail(ManagerInterface.Held(app: app, holds: [hold.wire(of: app, wallOffset: engine.wallOffset)]))
    }
  }

  /// Tells the service manager something, together with the line that `systemctl status` shows.
  func notify(_ notice: Notify? = nil) {
    do throws(SystemdError) {
      if let notice { try Notify.send(notice, .status(statusLine)) } else { try Notify.send(.status(statusLine)) }
    } catch {
      journal.cannotNotify(error)
    }
  }
}
