import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// Runs refreshes: starts their tasks or has an attached process perform them, and reports their start and end.
final class RefreshRunner: CommitContributor, ProcessOwner {
  private unowned let core: DaemonCore
  private let ports: Ports
  private let parts: Parts
  private let environment: TaskEnvironment
  private(set) var refreshes = RunningRefreshes()
  /// The last refresh of each app.
  let lastRefreshes = LastRefreshes()
  /// The validators of fetches.
  let fetches: FetchValidators
  /// The use by units whose workers have not ended yet.
  private var unitUses: [ProcessKey: UnitUse] = [:]

  /// The other parts that a refresh needs.
  struct Parts {
    let audience: Audience
    let transfers: TransferRunner
    let pings: Pings
  }

  init(
    _ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment, _ parts: Parts,
    _ validators: [AppID: [String: Validator]]
  ) {
    (self.core, self.ports, self.environment, self.parts) = (core, ports, environment, parts)
    fetches = FetchValidators(validators)
  }

  /// The task with this token, if the peer may complete it.
  ///
  /// A task may pass its token to any process; the token of an attached process is for its user only.
  func task(of token: String, completedBy peer: Peer) -> ProcessKey? {
    guard let key = refreshes.task(of: token), !isOfAnother(peer, than: refreshes[key.refresh]) else { return nil }
    guard let running = refreshes[key.refresh], let performer = running.performer,
      let user = parts.audience.attached.user(of: performer)
    else { return key }
    return user == peer.uid ? key : nil
  }

  /// Whether a caller is known to be a task or a Flatpak of another app.
  private func isOfAnother(_ peer: Peer, than running: RunningRefreshes.Running?) -> Bool {
    guard let subject = peer.confinement.subject else { return false }
    return subject != running?.app.id.description
  }

  /// The known processes of a running refresh.
  func processes(of refresh: RefreshID) -> [Int32] {
    refreshes.keys(of: refresh).flatMap(ports.processes.processes).sorted()
  }

  /// Starts the tasks of a refresh that come after no other.
  ///
  /// A refresh that was stopped while its start was being saved has ended already.
  func start(_ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger) {
    let isAttached = parts.audience.attached.performer(of: app.id) != nil
    // If the app attached while the start was being saved, nothing needs to activate it.
    if isAttached, app.commands.first?.activation != nil { return perform(refresh, of: app, trigger) }
    guard let deadline = startClock(of: refresh) else { return }
    let running = register(refresh, of: app, trigger, deadline: deadline, performer: nil)
    for (task, policy) in app.policy.tasks.enumerated() where policy.after.isEmpty {
      launch(task, of: refresh, running)
    }
  }

  /// Starts the deadline of a refresh, and returns it; nil if the refresh must not start any more.
  private func startClock(of refresh: RefreshID) -> Instant? {
    guard core.engine.isAwaitingBegin(refresh) else { return nil }
    core.handle(.began(refresh))
    return core.engine.deadline(of: refresh)
  }

  /// Starts one more task of a running refresh.
  func startTask(_ task: Int, of refresh: RefreshID) {
    if let running = refreshes[refresh] { return launch(task, of: refresh, running) }
    core.handle(.taskEnded(refresh, task: task, TaskEnd(exit: .notStarted(Self.noConfiguration))))
  }

  private static let noConfiguration = "its configuration is gone"

  /// Ends a refresh that cannot be started, because its app has no configuration.
  func fail(_ refresh: RefreshID, of app: AppID) {
    ports.journal.cannotStart(refresh, of: app)
    for task in 0..<core.engine.taskCount(of: refresh) {
      core.handle(.taskEnded(refresh, task: task, TaskEnd(exit: .notStarted(Self.noConfiguration))))
    }
  }

  /// Has the app's attached process perform a refresh.
  func perform(_ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger) {
    guard let deadline = startClock(of: refresh) else { return }
    let performer = parts.audience.attached.performer(of: app.id)?.lease
    let running = register(refresh, of: app, trigger, deadline: deadline, performer: performer)
    // The process may have left since the decision.
    if let performer { askToPerform(performer, refresh, running) } else { lose(refresh) }
  }

  /// Has a newly attached process perform the refresh for which the session bus started the app.
  func attached(_ lease: LeaseID, to app: AppID) {
    guard !core.engine.isStopping, parts.audience.attached.performer(of: app)?.lease == lease,
      let (refresh, running) = refreshes.handOver(to: lease, activationOf: app, in: core)
    else { return }
    // The task's process has done its work; the refresh goes on without it.
    ports.processes.terminate(ProcessKey(refresh: refresh, task: 0))
    askToPerform(lease, refresh, running)
  }

  private func askToPerform(_ performer: LeaseID, _ refresh: RefreshID, _ running: RunningRefreshes.Running) {
    let (payload, contentID) = (payload(of: refresh, running), contentID(of: refresh, running))
    let event = Wire.AttachEvent(perform: refresh, running, payload: payload, contentID: contentID, in: core)
    parts.audience.attached.send(event, to: performer)
  }

  /// Registers a starting refresh, and reports its start.
  private func register(
    _ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant, performer: LeaseID?
  ) -> RunningRefreshes.Running {
    let running = refreshes.add(
      refresh, of: app, trigger, deadline: deadline, performer: performer,
      at: core.now, runCalls: parts.audience.runCalls.claim(by: refresh, of: app.id))
    ports.journal.started(refresh, of: app.id, trigger)
    parts.pings.send(.begun, of: app)
    for call in running.runCalls where call.wantsMore {
      call.reply(ManagerInterface.Run.Reply(event: .init(kind: .started, id: refresh.description)), continues: true)
    }
    parts.audience.attached.send(
      Wire.AttachEvent(kind: .started, refresh: refresh.description, trigger: Wire.Trigger(trigger)),
      of: app.id, except: performer)
    return running
  }

  private func launch(_ task: Int, of refresh: RefreshID, _ running: RunningRefreshes.Running) {
    let (app, key) = (running.app, ProcessKey(refresh: refresh, task: task))
    let (command, policy) = (app.commands[task], app.policy.tasks[task])
    let variables = environment.variables(
      of: command, app: app, refresh: refresh, trigger: running.trigger,
      session: core.engine.started(of: refresh)?.session,
      tries: core.engine.tries(deliveredBy: refresh), contentID: contentID(of: refresh, running),
      deadline: core.wall(running.deadline(of: refresh, in: core)), token: running.tokens[task])
    ports.processes.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner, environment: variables,
        description: "\(app.name): \(policy.name) (refresh \(refresh))",
        timeLimit: max(.zero, core.now.duration(to: running.deadline(of: refresh, in: core))), grace: app.policy.grace,
        goodExits: [policy.noDataExit], givesWay: core.engine.givesWay(app.id, running.trigger),
        sandbox: app.sandbox,
        confinement: command.builtIn.map { parts.transfers.workers.folders.confinement(of: key, to: $0.writtenFolder) },
        input: fetches.order(of: command, policy, app.id) ?? payload(of: refresh, running).map { [UInt8]($0.utf8) },
        changedPath: policy.newData.path),
      for: self)
  }

  /// The payload for a refresh: of its push, of the ended transfer session that it reports, or of a `Run` call.
  private func payload(of refresh: RefreshID, _ running: RunningRefreshes.Running) -> String? {
    core.engine.push(deliveredBy: refresh)?.payload
      ?? parts.transfers.sessionReport(deliveredBy: refresh, to: running.app.id, in: core.engine) ?? running.payload
  }

  private func contentID(of refresh: RefreshID, _ running: RunningRefreshes.Running) -> String? {
    if let push = core.engine.push(deliveredBy: refresh) { return push.contentID }
    return running.contentID
  }

  /// Warns the app, by signal and by socket, that the deadline of its refresh is near.
  func warn(_ refresh: RefreshID, of app: AppID, deadline: Instant) {
    for key in refreshes.keys(of: refresh) { ports.processes.warn(key) }
    let (id, wall) = (refresh.description, core.wall(deadline))
    sendPerformer(of: refresh, Wire.AttachEvent(kind: .expiring, refresh: id, deadlineMicroseconds: wall))
    parts.audience.notify(leasesOf: app, Wire.Notice(kind: .expiring, refresh: id, deadlineMicroseconds: wall))
  }

  func terminate(_ refresh: RefreshID, of app: AppID, for reason: StopReason) {
    ports.journal.asked(refresh, of: app, toEndFor: reason)
    for key in refreshes.keys(of: refresh) { ports.processes.terminate(key) }
    sendPerformer(
      of: refresh,
      Wire.AttachEvent(kind: .cancelled, refresh: refresh.description, reason: Wire.StopReason(reason)))
  }

  /// Kills all processes of a refresh, or gives up on the attached process that performs it.
  func kill(_ refresh: RefreshID) {
    for key in refreshes.keys(of: refresh) { ports.processes.kill(key) }
    let attached = parts.audience.attached
    guard let running = refreshes[refresh], let performer = running.performer, attached.user(of: performer) != nil
    else { return }
    attached.setLate(performer, of: running.app.id, refresh, tokens: running.tokens)
    lose(refresh)
  }

  /// Fails the refreshes that a process performed whose connection has ended.
  func performerLeft(_ lease: LeaseID) {
    for refresh in refreshes.performed(by: lease) {
      lose(refresh, refreshes[refresh]?.isNotTaken(at: core.now) == true ? .notTaken : .lostClient)
    }
  }

  private func lose(_ refresh: RefreshID, _ exit: TaskEnd.Exit = .lostClient) {
    core.handle(.taskEnded(refresh, task: 0, TaskEnd(exit: exit)))
  }

  private func sendPerformer(of refresh: RefreshID, _ event: Wire.AttachEvent) {
    guard let running = refreshes[refresh], let performer = running.performer else { return }
    parts.audience.attached.send(event, to: performer)
  }

  // MARK: - Output and end

  /// Keeps what the unit of a task has used until the task's worker ends.
  func note(use: UnitUse, of key: ProcessKey) { unitUses[key] = use }

  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    let wasStuck = core.engine.stuckRefreshes[key.refresh] != nil
    let judged = judged(end, of: key)
    // The task's own process is irrelevant after an attached process has taken over the refresh.
    if refreshes[key.refresh]?.performer == nil { core.handle(.taskEnded(key.refresh, task: key.task, judged)) }
    if wasStuck { core.delegate.statusChanged() }
  }

  /// The end of a task as the engine must judge it.
  ///
  /// If the service manager could not confine a built-in task, the end is worth a retry, and the retry runs unconfined.
  private func judged(_ end: TaskEnd, of key: ProcessKey) -> TaskEnd {
    let end = unitUses.removeValue(forKey: key)?.added(to: end) ?? end
    guard let folder = parts.transfers.workers.folders.noteEnd(of: key, end), let running = refreshes[key.refresh],
      running.app.policy.tasks.indices.contains(key.task)
    else { return end }
    return TaskEnd(
      exit: .exited(running.app.policy.tasks[key.task].retryExit),
      message: "the service manager cannot confine it to \(folder); it is tried again without that")
  }

  /// Passes a line that a task printed to the journal and to the calls that watch.
  func printed(_ line: String, by key: ProcessKey) {
    guard let running = refreshes[key.refresh] else { return }
    let task = running.app.policy.tasks[key.task].name
    // The journal already has the output of a unit.
    if running.commands.indices.contains(key.task), running.commands[key.task].unit == nil {
      ports.journal.output(line, of: key.run, running.app.id, task: task)
    }
    let reply = ManagerInterface.Run.Reply(event: .init(kind: .output, task: task, text: line))
    for call in running.runCalls where call.wantsMore { call.reply(reply, continues: true) }
  }

  /// Reports an ended task before the rest of its refresh.
  private func report(_ ended: EndedTask) {
    // The refresh of an attached process has none of the file's tasks.
    guard let running = refreshes[ended.refresh], running.performer == nil else { return }
    let (task, audience) = (ended.record, parts.audience)
    audience.watchers.report(task, ended.refresh, of: ended.app)
    audience.attached.report(task, ended.refresh, of: ended.app)
    audience.notify(
      leasesOf: ended.app,
      Wire.Notice(
        kind: .taskEnded, refresh: ended.refresh.description, deadlineMicroseconds: core.wall(ended.deadline),
        task: task.name, outcome: Wire.Outcome(task.outcome)))
  }

  /// Reports ended tasks and refreshes; answers the calls that wait for a refresh once the history has it.
  func contribute(to commit: inout CommitAdditions, from decision: Decision, on event: Event) {
    for ended in decision.tasksEnded { report(ended) }
    for record in decision.changes.history.refreshes {
      let stored = StoredRefresh(record, wallOffset: core.engine.wallOffset)
      lastRefreshes.note(stored, of: record.app)
      core.tally.note(record)
      ports.journal.ended(record)
      parts.audience.attached.report(stored, of: record.app)
      let runCalls = refreshes.end(record.id)
      guard !runCalls.isEmpty else { continue }
      let refresh = Wire.Refresh(stored, of: record.app, for: .person)
      let reply = ManagerInterface.Run.Reply(event: .init(kind: .finished, refresh: refresh))
      commit.answers.append { for call in runCalls { call.reply(reply) } }
    }
  }

  /// Adopts the running refreshes of the earlier daemon, and ends the others.
  ///
  /// Called before the configuration is in force, when the engine decides each outcome. Returns the events to handle after
  /// that: the reports of tasks to the earlier daemon.
  func adopt(
    _ left: [AppID: Started], stored: [PassedDescriptor], _ configuration: ConfigurationInForce
  ) -> [Event] {
    let found = ports.processes.adopt(left.flatMap { $1.tasks(in: configuration[$0]) }, stored: stored, for: self)
    let survivors = Dictionary(grouping: found) { $0.key.refresh }
    ports.processes.clean(leftFrom: Set(left.values.map(\.id.run)).subtracting(survivors.keys.map(\.run)))
    for (id, started) in left.sorted(by: { $0.key < $1.key }) {
      guard let app = configuration[id], let tasks = survivors[started.id] else { continue }
      let tokens = tasks.compactMap { key, found in found.token.map { (key.task, $0) } }
      _ = refreshes.add(
        started.id, of: app, started.trigger, deadline: started.at + app.policy.deadline, performer: nil,
        at: core.now, found: Dictionary(uniqueKeysWithValues: tokens), runCalls: [])
      core.handle(.survived(started.id, tasks: Set(tasks.map(\.key.task))))
      ports.journal.tookOver(started.id, of: id)
    }
    return found.sorted { $0.key.description < $1.key.description }.flatMap { key, task in
      task.completion.map { completion in
        [.completed(key.refresh, task: key.task, completion.outcome, message: completion.message)]
          + completion.hints.events(of: key.refresh, refreshes[key.refresh])
      } ?? []
    }
  }
}
