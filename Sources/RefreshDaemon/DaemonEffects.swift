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
    case .warn(let refresh, let app, let deadline):
      warn(refresh, of: app, deadline: deadline)
    case .terminate(let refresh, let app, let reason):
      journal.asked(refresh, of: app, toEndFor: reason)
      for key in refreshes.keys(of: refresh) { launcher.terminate(key) }
    case .kill(let refresh, _):
      for key in refreshes.keys(of: refresh) { launcher.kill(key) }
    }
  }

  private func start(_ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant) {
    let running = refreshes.begin(refresh, of: app)
    journal.started(refresh, of: app.id, trigger)
    for call in running.watchers where call.wantsMore {
      call.reply(ManagerInterface.Run.Reply(event: .started(id: refresh.description)), continues: true)
    }
    let deadlineMicroseconds = deadline.wallMicroseconds(at: engine.wallOffset)
    for (index, command) in app.commands.enumerated() {
      let variables = environment.variables(
        of: command, app: app, refresh: refresh, trigger: trigger, deadline: deadlineMicroseconds,
        token: running.tokens[index])
      launcher.start(
        TaskLaunch(
          key: TaskKey(refresh: refresh, task: index), app: app.id, command: command, owner: app.owner,
          environment: variables, input: nil, changedPath: app.policy.tasks[index].newData.path))
    }
  }

  /// Tells the app by signal and socket that its refresh is near its deadline (FEATURES B1).
  private func warn(_ refresh: RefreshID, of app: AppID, deadline: Instant) {
    for key in refreshes.keys(of: refresh) { launcher.warn(key) }
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
    guard let running = refreshes.running[key.refresh] else { return }
    let task = running.app.policy.tasks[key.task].name
    journal.output(line, of: key.refresh, running.app.id, task: task)
    let reply = ManagerInterface.Run.Reply(event: .output(task: task, text: line))
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
    let watchers = refreshes.end(record.id)
    guard !watchers.isEmpty else { return }
    let reply = ManagerInterface.Run.Reply(event: .finished(Wire.Refresh(stored)))
    pending.answers.append { for call in watchers { call.reply(reply) } }
  }
}

extension NewData {
  /// The path to look at before and after the task, if the task is judged by one.
  fileprivate var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}
