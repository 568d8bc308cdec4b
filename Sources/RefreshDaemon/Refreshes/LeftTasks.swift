import RefreshConfig
import RefreshEngine

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
