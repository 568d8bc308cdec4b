import RefreshConfig
import RefreshEngine
import Systemd

// Going on with what a daemon before this one began.

extension Daemon {
  /// Takes up the refreshes that are still there of those that a daemon before this one left, and ends the rest.
  ///
  /// Before the configuration is in force, which is when the engine decides what became of each. Gives what is to be
  /// handled after that: what tasks had said of themselves.
  func takeOver(_ left: [AppID: Started], stored: [PassedDescriptor]) -> [Event] {
    let found = launcher.adopt(left.flatMap { tasks(of: $1, $0) }, stored: stored)
    let survivors = Dictionary(grouping: found) { $0.key.refresh }
    launcher.clean(leftFrom: Set(left.values.map(\.id)).subtracting(survivors.keys))
    for (id, started) in left.sorted(by: { $0.key < $1.key }) {
      guard let app = configuration[id], let tasks = survivors[started.id] else { continue }
      let tokens = tasks.compactMap { key, found in found.token.map { (key.task, $0) } }
      refreshes.begin(
        started.id, of: app, started.trigger, deadline: started.at + app.policy.deadline,
        found: Dictionary(uniqueKeysWithValues: tokens))
      handle(.survived(started.id, tasks: Set(tasks.map(\.key.task))))
      journal.tookOver(started.id, of: id)
    }
    return found.sorted { $0.key.description < $1.key.description }.flatMap { events(of: $0, $1.completion) }
  }

  private func events(of key: TaskKey, _ completion: TaskCompletion?) -> [Event] {
    guard let completion else { return [] }
    let said = Event.completed(key.refresh, task: key.task, completion.outcome, message: completion.message)
    return [said] + events(of: completion.hints, key.refresh)
  }

  private func tasks(of started: Started, _ id: AppID) -> [LeftTask] {
    guard let app = configuration[id] else { return [] }
    return zip(app.commands, app.policy.tasks).enumerated().map { number, task in
      LeftTask(
        key: TaskKey(refresh: started.id, task: number), app: id, command: task.0, owner: app.owner,
        changedPath: task.1.newData.path)
    }
  }
}
