import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// The daemon: clock, engine, save, perform, arm.
///
/// ``DaemonCore`` reads the clocks, lets the engine decide on an event, and arms the wake timer. ``Saving`` saves the
/// decision. After the commit, even a failed one, effects are performed here and callers are answered. Each part has one
/// subject and its private state; parts that act on every decision are ``CommitContributor``s or ``DecisionObserver``s. All
/// of it belongs to the scheduler's one thread.
final class Daemon {
  let ports: Ports
  let core: DaemonCore
  let saving: Saving
  let audience: Audience
  let notifyCommands: NotifyCommands
  let questions: ConditionQuestions
  let pings: Pings
  let guards: GuardKeepers
  let transfers: TransferRunner
  let runner: RefreshRunner
  let pushes: PushIntake
  let desktops: DesktopSessions
  let notices: DesktopNotices
  let machine: MachineWatch
  let changes: LocalChanges
  let files: ConfigurationReads
  let held: HeldApps
  let forecasts: Forecasts
  /// The socket's server, and the state of the daemon's stop.
  var life = Life()

  init(
    _ ports: Ports, _ loaded: Loaded, at moment: Moment, spread: Spread = Machine.spread()
  ) {
    self.ports = ports
    let engine = Engine(
      start: loaded.start, spread: spread, states: loaded.states, wallOffset: moment.wallOffset,
      device: loaded.device, learned: loaded.learned, transfers: loaded.transfers.mapValues(\.state),
      pushes: loaded.pushes, lateClock: loaded.lateClock, awaitsBegin: true)
    core = DaemonCore(engine, scheduler: ports.scheduler, access: ports.access, startedAt: moment)
    let environment = TaskEnvironment(ports.settings)
    saving = Saving(core, ports, path: ports.settings.storePath)
    audience = Audience(core, ports.journal)
    notifyCommands = NotifyCommands(core, ports, environment)
    questions = ConditionQuestions(core, ports, environment)
    pings = Pings(core, ports, environment)
    guards = GuardKeepers(core, ports, environment)
    desktops = DesktopSessions(core, audience)
    notices = DesktopNotices(core, desktops, notifyCommands, ports.journal)
    transfers = TransferRunner(
      KnownTransfers(loaded.transfers, last: loaded.lastTransfer), core, ports, environment,
      .init(audience: audience, saving: saving, notices: notices))
    runner = RefreshRunner(
      core, ports, environment,
      .init(audience: audience, transfers: transfers, pings: pings),
      loaded.validators)
    pushes = PushIntake(
      PushLedger(loaded.pushes, last: loaded.lastPush), core, audience, saving, ports.journal, notices)
    machine = MachineWatch(core, ports, audience)
    changes = LocalChanges(core, ports, runner.lastRefreshes)
    files = ConfigurationReads(core, ports.files)
    held = HeldApps(core, files)
    forecasts = Forecasts(ports)
  }

  /// Opens the daemon: adopts the tasks of an earlier daemon, puts the configuration in force, and serves the socket.
  ///
  /// `passed` are the descriptors from the service manager.
  func open(_ loaded: Loaded, _ configuration: Configuration, passed: [PassedDescriptor] = []) throws {
    try join()
    // The other states belong to apps that were out of the configuration before.
    let known = loaded.states.filter { $1.seenAt != nil && $1.waiting?.holds.contains(.notConfigured) != true }
    let next = ConfigurationInForce(configuration.keeping(known.keys.sorted()), at: core.startedAt)
    let left = loaded.states.compactMapValues(\.running)
    let reported = runner.adopt(left, stored: passed.filter { $0.kind == .stored }, next)
    if loaded.previous == .otherBoot { core.handle(.resumed) }
    putInForce(next)
    for event in reported { core.handle(event) }
    try transfers.open()
    if let reactor = ports.reactor { try serve(on: passed.filter { $0.kind == .listening }, reactor) }
    ports.journal.starts(by: ports.choice, problem: ports.processes.problem)
    ports.journal.held(next.held)
    ports.journal.ready(apps: next.apps.count, start: core.engine.start)
    notify(.ready)
    saving.reads.lastRefreshes { result in
      var stored: [AppID: StoredRefresh] = [:]
      switch result {
      case .success(let refreshes): stored = refreshes
      case .failure(let problem): self.saving.readFailed(problem)
      }
      self.runner.lastRefreshes.load(stored, of: self.core.configuration.apps.map(\.id))
      self.ports.trimMemory()
    }
  }

  /// Connects the parts of the daemon.
  private func join() throws {
    saving.parts = [transfers, pushes, runner.fetches]
    try saving.open()
    try files.open()
    try held.open()
    try machine.open()
    // Clients hear of a decision after its own answers are queued, because the observers come after the commit.
    try core.open(
      for: self,
      DaemonCore.Parts(
        contributors: [
          runner,  // reports the refreshes that have ended
          transfers,  // reports the transfers that have ended
          pushes,  // reports the pushes that were dropped
        ],
        saving: saving,
        observers: [
          audience.watchers,  // sends events to the clients that watch
          machine,  // holds the machine's sleep while anything runs
          self,  // watches the conditions that a pause or a transfer needs
          changes,  // reads the last writes of an ended refresh
          pushes.bridge,  // tells the push bridge whether it may connect
          audience,  // reports the phases that have changed
        ]))
  }

  /// Handles changes by a user in one turn of the engine, and calls back when they are on the disk, or with the reason why
  /// they are not; then they are taken back.
  ///
  /// While the disk does not answer, it calls back at once and changes nothing.
  func handleDurably(_ events: [Event], then promise: @escaping (StoreError?) -> Void) {
    if let refusal = saving.refusal { return promise(refusal) }
    let undo = core.engine.undo(of: events)
    if events.count == 1 { core.handle(events[0]) } else { core.handle(.several(events)) }
    saving.promise { [unowned self] problem, _ in
      if problem != nil { core.handle(.several(undo)) }
      promise(problem)
    }
  }

  /// Performs an effect; a start runs after the commit, even a failed commit.
  private func perform(_ effect: Effect, of app: AppConfiguration?) {
    switch effect {
    case .start(let refresh, let id, let trigger, _):
      guard let app else { return runner.fail(refresh, of: id) }
      runner.start(refresh, of: app, trigger)
    case .perform(let refresh, let id, let trigger, _):
      guard let app else { return runner.fail(refresh, of: id) }
      runner.perform(refresh, of: app, trigger)
    case .startTask(let refresh, _, let task): runner.startTask(task, of: refresh)
    case .warn(let refresh, let app, let deadline): runner.warn(refresh, of: app, deadline: deadline)
    case .terminate(let refresh, let app, let reason): runner.terminate(refresh, of: app, for: reason)
    case .kill(let refresh, _): runner.kill(refresh)
    case .reportStuck(let refresh, let app):
      ports.journal.stuck(refresh, of: app, runner.processes(of: refresh))
      notify()
      leaveIfDone()
    case .transfer(let id, _): transfers.start(id, of: app)
    case .stopTransfer(let id, _, let reason): transfers.stop(id, of: app, for: reason)
    case .reportStale(let run, let since):
      guard let app else { return }
      notifyCommands.reportStale(run, app, since: since)
      notices.reportStale(app, since: since)
    case .reportHeld(let run, let holds, let since):
      if let app { notifyCommands.reportHeld(run, app, by: holds, since: since) }
    case .reportEnd(let report, _):
      if let app { self.report(report, of: app) }
    case .ask(let run): questions.ask(run, of: app)
    case .keep(let run, let unit, let isKept): guards.keep(run, unit, isKept: isKept, of: app)
    case .giveBack(let run, let unit, _): guards.giveBack(run, unit, of: app)
    case .reportLeftUnit(let id, let unit): guards.reportLeft(unit, of: id)
    }
  }

  /// Reports the end of a refresh to the commands of the app's file and to its ping, and a failing app to its owner.
  private func report(_ report: EndReport, of app: AppConfiguration) {
    notifyCommands.reportEnd(report, app)
    pings.send(report.record.outcome.isFresh ? .succeeded : .failed, of: app)
    guard report.isFailing else { return }
    ports.journal.isFailing(app.id, report.failures, report.record.message)
    notices.reportFailing(app, report.failures, report.record.message)
  }
}

extension Daemon: DaemonDelegate {
  func perform(_ work: [PendingCommit.Work]) {
    for work in work { perform(work.effect, of: work.app) }
    transfers.workers.sendOrders()
  }

  func erased(_ apps: Set<AppID>) {
    for app in apps {
      runner.lastRefreshes.forget(app)
      core.tally.forget(app)
    }
  }

  func statusChanged() { notify() }

  func needsChanged() { watchConditions() }
}

extension Daemon: DecisionObserver {
  func observe(_ decision: Decision, on event: Event, at now: Instant) {
    let isOpenChanged = !decision.changes.transfers.isEmpty && transfers.updateHasOpen()
    if decision.changes.device.contains(.pause) || isOpenChanged { watchConditions() }
  }

  /// Watches the conditions that the configuration in force and the parts need.
  private func watchConditions() {
    machine.watch(conditionNeeds(of: core.configuration), for: core.configuration)
  }

  func conditionNeeds(of configuration: ConfigurationInForce) -> ConditionNeeds {
    var needs = configuration.conditionNeeds
    if core.engine.device.pause == .untilAC { needs.insert(.power) }
    if transfers.hasOpen { needs.insert(.network) }
    if pushes.isInUse { needs.formUnion([.network, .power]) }
    return needs
  }
}
