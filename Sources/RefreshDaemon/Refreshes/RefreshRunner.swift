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
    guard let deadline = startDeadline(of: refresh) else { return }
    let running = register(refresh, of: app, trigger, deadline: deadline, performer: nil)
    for (task, policy) in app.policy.tasks.enumerated() where policy.after.isEmpty {
      launch(task, of: refresh, running)
    }
  }

  /// Starts the deadline of a refresh, and returns it; nil if the refresh must not start any more.
  private func startDeadline(of refresh: RefreshID) -> Instant? {
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
    guard let deadline = startDeadline(of: refresh) else { return }
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
      message: "the service manager cannot confine it to \(folder); it runs again without that")
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

/// The running refreshes, and the tokens of their tasks.
struct RunningRefreshes {
  struct Running {
    /// The app's configuration at the start.
    let app: AppConfiguration
    let trigger: Trigger
    /// The deadline of the refresh at its start, boot clock; the engine may have moved it since.
    let startDeadline: Instant
    /// The lease of the attached process that performs the refresh; nil if the app's commands do.
    fileprivate(set) var performer: LeaseID?
    /// When that process was asked to perform it, boot clock.
    fileprivate(set) var askedAt: Instant?
    /// A token for each task, with which it may complete itself.
    fileprivate(set) var tokens: [String]
    /// The `Run` calls that receive each step.
    let runCalls: [RunCalls.RunCall]

    /// The payload of a `Run` call; nil for none.
    var payload: String? { runCalls.lazy.compactMap(\.parameters.payload).first }

    /// The content id of that payload.
    var contentID: String? {
      do throws(AppInterface.InvalidPayload) {
        return try payload.flatMap { (text) throws(AppInterface.InvalidPayload) in
          try PushPayload(text).contentID
        }
      } catch {
        // The payload was checked when it came.
        return nil
      }
    }

    /// The deadline in force, boot clock.
    func deadline(of refresh: RefreshID, in core: DaemonCore) -> Instant {
      core.engine.deadline(of: refresh) ?? startDeadline
    }

    /// Whether its process leaves without having taken it: an app that the bus has started, and that was about to end.
    func isNotTaken(at now: Instant) -> Bool {
      guard app.commands.first?.activation != nil, let askedAt else { return false }
      return askedAt.duration(to: now) <= .seconds(2)
    }

    /// The commands of the refresh; none if an attached process performs it.
    var commands: [Command] { performer == nil ? app.commands : [] }
  }

  private var running: [RefreshID: Running] = [:]
  private var tasks: [String: ProcessKey] = [:]

  subscript(refresh: RefreshID) -> Running? { running[refresh] }

  /// The task with this token; nil if there was none or it has ended.
  func task(of token: String) -> ProcessKey? { tasks[token] }

  /// The task whose worker calls with this token; nil for any other caller.
  ///
  /// The worker runs as the owner; another user may not use a token that it found.
  func task(of token: String, calledBy peer: Peer) -> (key: ProcessKey, running: Running)? {
    guard let key = tasks[token], let running = running[key.refresh], running.performer == nil,
      running.app.owner.uid == peer.uid
    else { return nil }
    return (key, running)
  }

  /// The commands of a running refresh, by the launcher's names.
  func keys(of refresh: RefreshID) -> [ProcessKey] {
    (running[refresh]?.commands ?? []).indices.map { ProcessKey(refresh: refresh, task: $0) }
  }

  /// The refreshes that an attached process performs, in order of their ids.
  func performed(by performer: LeaseID) -> [RefreshID] {
    running.filter { $0.value.performer == performer }.keys.sorted()
  }

  /// Adds a refresh and gives each of its tasks a token; an attached process performs it as one task.
  ///
  /// Running tasks that were found keep their tokens: `found` has these, by the number of the task.
  mutating func add(
    _ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant, performer: LeaseID?,
    at now: Instant, found: [Int: String] = [:], runCalls: [RunCalls.RunCall]
  ) -> Running {
    let tokens = (performer == nil ? app.commands.indices : 0..<1).map { found[$0] ?? Token.make() }
    for (index, token) in tokens.enumerated() { tasks[token] = ProcessKey(refresh: refresh, task: index) }
    let started = Running(
      app: app, trigger: trigger, startDeadline: deadline, performer: performer, askedAt: now, tokens: tokens,
      runCalls: runCalls)
    running[refresh] = started
    return started
  }

  /// Gives an attached process the refresh whose task has activated its app, with a new token in place of the task's.
  ///
  /// A refresh with an outcome, or past its deadline, stays with its task.
  mutating func handOver(
    to performer: LeaseID, activationOf app: AppID, in core: DaemonCore
  ) -> (RefreshID, Running)? {
    let found = running.first { refresh, running in
      running.app.id == app && running.performer == nil && running.commands.first?.activation != nil
        && core.engine.outcome(of: refresh, task: 0) == nil && core.now < running.deadline(of: refresh, in: core)
    }
    guard let refresh = found?.key else { return nil }
    for token in running[refresh]?.tokens ?? [] { tasks[token] = nil }
    let token = Token.make()
    tasks[token] = ProcessKey(refresh: refresh, task: 0)
    running[refresh]?.performer = performer
    running[refresh]?.askedAt = core.now
    running[refresh]?.tokens = [token]
    return running[refresh].map { (refresh, $0) }
  }

  /// Forgets an ended refresh, and returns the `Run` calls that waited for it.
  mutating func end(_ refresh: RefreshID) -> [RunCalls.RunCall] {
    guard let ended = running.removeValue(forKey: refresh) else { return [] }
    for token in ended.tokens { tasks[token] = nil }
    return ended.runCalls
  }
}

extension Wire.AttachEvent {
  /// Makes the request to perform a refresh.
  init(
    perform refresh: RefreshID, _ running: RunningRefreshes.Running, payload: String?, contentID: String?,
    in core: DaemonCore
  ) {
    self.init(
      kind: .perform, refresh: refresh.description, trigger: Wire.Trigger(running.trigger),
      token: running.tokens.first,
      payload: payload, session: core.engine.started(of: refresh)?.session,
      tries: core.engine.tries(deliveredBy: refresh),
      deadlineMicroseconds: core.wall(running.deadline(of: refresh, in: core)),
      contentID: contentID)
  }
}

extension ProcessKey {
  /// Names a task of a refresh.
  init(refresh: RefreshID, task: Int) { self.init(run: refresh.run, task: task) }

  /// The refresh of a process that ``RefreshRunner`` has started.
  var refresh: RefreshID { RefreshID(run) }
}

/// The secret that identifies the process of a task or a worker.
enum Token {
  /// Makes a token: 128 random bits, which only a process that received it can know.
  static func make() -> String {
    (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
  }
}

extension Started {
  /// The tasks of a refresh that an earlier daemon may have left.
  func tasks(in app: AppConfiguration?) -> [LeftTask] {
    guard let app else { return [] }
    return zip(app.commands, app.policy.tasks).enumerated().map { number, task in
      LeftTask(
        key: ProcessKey(refresh: id, task: number), app: app.id, command: task.0, owner: app.owner,
        changedPath: task.1.newData.path)
    }
  }
}
