import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

// Performing what the engine decided, once it is saved.

extension Daemon {
  /// Performs one effect.
  func perform(_ work: Pending.Work) {
    switch work.effect {
    case .start(let refresh, let id, let trigger, let deadline):
      guard let app = work.app else { return journal.cannotStart(refresh, of: id) }
      start(refresh, of: app, trigger, deadline: deadline)
    case .perform(let refresh, let id, let trigger, let deadline):
      guard let app = work.app else { return journal.cannotStart(refresh, of: id) }
      handOver(refresh, of: app, trigger, deadline: deadline)
    case .startTask(let refresh, _, let task):
      if let running = refreshes.running[refresh] { launch(task, of: refresh, running) }
    case .warn(let refresh, let app, let deadline):
      warn(refresh, of: app, deadline: deadline)
    case .terminate(let refresh, let app, let reason):
      journal.asked(refresh, of: app, toEndFor: reason)
      for key in refreshes.keys(of: refresh) { launcher.terminate(key) }
      cancel(refresh, reason)
    case .kill(let refresh, _):
      kill(refresh)
    case .transfer(let id, _):
      transfer(id, of: work.app)
    case .stopTransfer(let id, _, let reason):
      stopTransfer(id, of: work.app, for: reason)
    case .tellStale(let id, _, let since):
      if let app = work.app { tellStale(id, app, since: since) }
    }
  }

  /// Ends all processes of a refresh, or gives up on the attached app that performs it.
  func kill(_ refresh: RefreshID) {
    for key in refreshes.keys(of: refresh) { launcher.kill(key) }
    giveUp(refresh)
  }

  private func start(_ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant) {
    let running = refreshes.begin(refresh, of: app, trigger, deadline: deadline)
    tellStarted(refresh, running)
    for (task, policy) in app.policy.tasks.enumerated() where policy.after.isEmpty {
      launch(task, of: refresh, running)
    }
  }

  /// Tells everybody that a refresh has begun.
  func tellStarted(_ refresh: RefreshID, _ running: Refreshes.Running) {
    journal.started(refresh, of: running.app.id, running.trigger)
    for call in running.watchers where call.wantsMore {
      call.reply(ManagerInterface.Run.Reply(event: .init(kind: .started, id: refresh.description)), continues: true)
    }
    tellAttached(toBegin: refresh, running)
  }

  /// Starts one task of a refresh that has begun.
  private func launch(_ task: Int, of refresh: RefreshID, _ running: Refreshes.Running) {
    let app = running.app
    let push = engine.push(toldBy: refresh)
    let variables = environment.variables(
      of: app.commands[task], app: app, refresh: refresh, trigger: running.trigger,
      session: session(toldBy: refresh), contentID: push?.contentID,
      deadline: running.deadline.wallMicroseconds(at: engine.wallOffset), token: running.tokens[task])
    launcher.start(
      TaskLaunch(
        key: TaskKey(refresh: refresh, task: task), app: app.id, command: app.commands[task], owner: app.owner,
        environment: variables, description: "\(app.name): \(app.policy.tasks[task].name) (refresh \(refresh))",
        timeLimit: max(.zero, Moment.now().instant.duration(to: running.deadline)), grace: app.policy.grace,
        goodExits: [app.policy.tasks[task].noDataExit], properties: app.sandbox.map(UnitProperty.init),
        input: order(of: app.commands[task], app.id)
          ?? (push?.payload ?? linesOfSession(toldBy: refresh, to: app.id)).map { [UInt8]($0.utf8) },
        changedPath: app.policy.tasks[task].newData.path))
  }

  /// Tells the app by signal and socket that its refresh is near its deadline (FEATURES B1).
  private func warn(_ refresh: RefreshID, of app: AppID, deadline: Instant) {
    for key in refreshes.keys(of: refresh) { launcher.warn(key) }
    warnPerformer(of: refresh, deadline: deadline)
    guard let phase = engine.phase(of: app) else { return }
    let notice = Wire.Notice(
      kind: "expiring", refresh: refresh.description,
      deadlineMicroseconds: deadline.wallMicroseconds(at: engine.wallOffset))
    for call in leases.calls(of: app) {
      call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase), notice: notice), continues: true)
    }
  }

  /// Hands a line that a task printed to the journal and to who watches.
  func takeOutput(_ key: TaskKey, _ line: String) {
    if let (app, telling) = tellings[key] { return journal.output(line, of: key.refresh, app, task: telling.name) }
    if let worker = workers[key] { return journal.output(line, of: key.refresh, worker.app, task: "transfer") }
    guard let running = refreshes.running[key.refresh] else { return }
    let task = running.app.policy.tasks[key.task].name
    journal.output(line, of: key.refresh, running.app.id, task: task)
    let reply = ManagerInterface.Run.Reply(event: .init(kind: .output, task: task, text: line))
    for call in running.watchers where call.wantsMore { call.reply(reply, continues: true) }
  }

  /// Tells everybody that a refresh has ended.
  ///
  /// Who waits for it is told when it is in the history.
  func conclude(_ record: RefreshRecord) {
    let stored = StoredRefresh(record, wallOffset: engine.wallOffset)
    lasts.note(stored)
    tally.note(record)
    journal.ended(record)
    tellAttached(of: stored)
    let watchers = refreshes.end(record.id)
    guard !watchers.isEmpty else { return }
    let reply = ManagerInterface.Run.Reply(event: .init(kind: .finished, refresh: Wire.Refresh(stored)))
    pending.answers.append { for call in watchers { call.reply(reply) } }
  }
}

extension NewData {
  /// The path to look at before and after the task, if the task is judged by one.
  var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}
