import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

// Reload and shutdown: the requests of the service manager.

/// The state of the daemon's stop, and the socket's server.
struct Life {
  var server: Server?
  /// The refreshes that the next daemon adopts; none before this daemon stops.
  var left: Set<RefreshID> = []
  /// Whether a stop has asked the launcher which tasks outlive this daemon.
  var isStopAsked = false
  /// Whether the loop was asked to end.
  var isLeaving = false
  /// Ends the loop if the store does not close.
  var closing: (any WakeTimer)?
}

extension Daemon {
  /// The time that a shutdown takes after the longest grace, in microseconds: for SIGKILL, for processes that outlive it,
  /// and for the last commit.
  private static let shutdownMargin: Int64 = 5_000_000 + TerminationSequence.patience.inMicroseconds
  /// How long the store may take to close.
  private static let closeBound = Duration.seconds(5)

  /// Puts a configuration in force.
  ///
  /// Starts the needed condition sources before the engine judges.
  func putInForce(_ next: ConfigurationInForce) {
    machine.watch(conditionNeeds(of: next), for: next)
    core.configure(next)
    runner.lastRefreshes.share(next.apps.map(\.id))
    held.reconfigured()
    changes.reconfigured()
    runner.fetches.forgetAll(except: next)
    pings.reconfigured()
    saving.commitIfNeeded()
  }

  /// Reads the configuration and puts it in force, or answers with every new mistake and changes nothing.
  ///
  /// The mistake of an app that is held already is not new: the app stays held, and the other apps follow their files.
  func reload(then answer: @escaping ([Problem]) -> Void) {
    notify(.reloading(monotonicMicroseconds: EventLoop.monotonicMicroseconds()))
    files.read { result in
      let problems: [Problem]
      switch result {
      case .success(let configuration):
        problems = self.core.configuration.newMistakes(in: configuration)
        if problems.isEmpty {
          let whole = self.core.configuration.keepingHeld(in: configuration)
          self.replace(by: ConfigurationInForce(whole, at: self.core.scheduler.now()))
        }
      case .failure(let error): problems = error.problems
      }
      if !problems.isEmpty {
        self.core.refuse(problems)
        self.ports.journal.refused(problems)
      }
      answer(self.endReload(problems))
    }
  }

  /// Puts a configuration in force in place of the present one.
  func replace(by next: ConfigurationInForce) {
    let before = Set(core.configuration.apps.map(\.id))
    ports.processes.forget(before.subtracting(next.apps.map(\.id)))
    putInForce(next.keepingMemory(of: core.configuration))
    loadLastRefreshes(of: next.apps.map(\.id).filter { !before.contains($0) && runner.lastRefreshes[$0] == nil })
    transfers.workers.sendOrders()
    audience.attached.reportAllServed()
    machine.logins.reconfigured()
    desktops.reconfigured()
    if next.launcher != ports.choice.asked { ports.journal.keepsLauncher(ports.choice, until: next.launcher) }
    audience.runCalls.reconfigured()
    ports.journal.configured(apps: next.apps.count)
    ports.journal.held(next.held)
  }

  /// Reads the last refreshes of apps whose files have come back.
  private func loadLastRefreshes(of apps: [AppID]) {
    // A new app has none.
    let known = apps.filter { core.engine.state(of: $0)?.lastStart != nil }
    guard !known.isEmpty else { return }
    saving.reads.lastRefreshes { result in
      switch result {
      case .success(let stored): self.runner.lastRefreshes.load(stored, of: known)
      case .failure(let problem): self.saving.readFailed(problem)
      }
    }
  }

  private func endReload(_ problems: [Problem]) -> [Problem] {
    notify(.ready)
    ports.trimMemory()
    return problems
  }

  /// Stops: leaves the tasks that the next daemon can adopt, ends everything else by SIGTERM, and by SIGKILL after its
  /// grace or at a second call.
  func stop() {
    guard !core.engine.isStopping else {
      for refresh in core.engine.refreshes where !life.left.contains(refresh) { runner.kill(refresh) }
      notifyCommands.killAll()
      questions.killAll()
      pings.killAll()
      return transfers.workers.endAll(isUrgent: true)
    }
    // The service manager did not answer which tasks may stay: the second request waits no more.
    guard !life.isStopAsked else { return stop(leaving: []) }
    life.isStopAsked = true
    ports.processes.findSurvivors { self.stop(leaving: Set($0.map(RefreshID.init))) }
  }

  private func stop(leaving stays: Set<RefreshID>) {
    guard !core.engine.isStopping else { return }
    life.left = stays.intersection(core.engine.refreshes)
    core.handle(.stopped(leaving: life.left))
    // A notify command may be at work, and gets a grace.
    notifyCommands.endAll()
    questions.killAll()
    pings.killAll()
    if !guards.isEmpty { ports.processes.findOccasion { self.guards.stop($0) } }
    transfers.workers.endAll(isUrgent: false)
    let ending = max(0, core.engine.refreshingCount - life.left.count)
    ports.journal.stopping(refreshing: ending, left: life.left.count)
    notify(.stopping)
    if ending > 0 || !transfers.workers.isEmpty || !guards.isEmpty || hasCommands {
      let longestGrace = core.configuration.apps.map(\.policy.grace).max() ?? .zero
      let grace = max(longestGrace, TerminationSequence.shortGrace)
      notify(.extendTimeout(microseconds: Self.shutdownMargin + grace.inMicroseconds))
    }
    audience.runCalls.giveUpAll(.stopping)
    saving.commitSoon()
  }

  /// Whether a command is left, apart from those that no signal ends.
  private var hasCommands: Bool { !notifyCommands.isEmpty || !questions.isEmpty || !pings.isEmpty }

  /// Ends the loop once only refreshes for the next daemon run, and everything is saved.
  ///
  /// Neither a silent disk nor processes that outlive SIGKILL prevent that.
  func leaveIfDone() {
    let left = life.left.union(core.engine.stuckRefreshes.keys)
    guard core.engine.isStopping, left.isSuperset(of: core.engine.refreshes),
      saving.isIdle || saving.refusal != nil, !hasCommands, guards.isEmpty, transfers.workers.isEmpty,
      !life.isLeaving
    else { return }
    life.isLeaving = true
    life.server?.close()
    if let problem = saving.refusal {
      ports.journal.stopsUnsaved(problem)
      return core.scheduler.exit()
    }
    do throws(SystemdError) {
      life.closing = try core.scheduler.timer { [core] in core.scheduler.exit() }
    } catch {
      ports.journal.leavesWithoutClosing(error)
      return core.scheduler.exit()
    }
    core.scheduler.arm(life.closing, after: Self.closeBound, accuracy: 1000)
    ports.store.close { self.core.scheduler.exit() }
  }

  /// Sends a notice to the service manager, and the line that `systemctl status` shows.
  func notify(_ notice: Notify? = nil) {
    let configuration = core.configuration
    let line = StatusLine.text(
      apps: configuration.apps.count, problems: configuration.refused.map(\.description),
      held: configuration.held.map(\.description), storeProblem: saving.problem,
      stuck: core.engine.stuckRefreshes.values.map(\.description).sorted(),
      stopping: core.engine.isStopping ? max(0, core.engine.refreshingCount - life.left.count) : nil)
    do throws(SystemdError) { try ports.notify(notice, line) } catch { ports.journal.cannotNotify(error) }
  }
}

/// The one line that `systemctl status` shows of the daemon (sd_notify(3), `STATUS=`).
///
/// It contains nothing that changes by the second, because every change wakes the service manager.
enum StatusLine {
  static func text(
    apps: Int, problems: [String], held: [String], storeProblem: StoreError?, stuck: [String], stopping: Int?
  ) -> String {
    if let stopping {
      return stopping == 0 ? "Stopping." : "Stopping: \(counted(stopping, "refresh", "refreshes")) to end first."
    }
    var sentences = ["Keeping \(counted(apps, "app", "apps")) fresh."]
    if let first = problems.first {
      sentences.append("The new configuration was rejected, the old one stays in force: \(first)\(more(problems))")
    }
    if let first = held.first { sentences.append("Holding apps for mistakes in their files: \(first)\(more(held))") }
    if let storeProblem {
      let effect = storeProblem.code == .unanswered ? "Nothing new starts" : "Going on in memory"
      sentences.append("\(effect): \(storeProblem)")
    }
    if let first = stuck.first { sentences.append("Blocked in the kernel: a process of \(first)\(more(stuck)).") }
    return sentences.joined(separator: " ")
  }

  private static func more(_ problems: [String]) -> String {
    problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
  }

  private static func counted(_ count: Int, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
  }
}
