import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Reports the progress of the token's task to the clients that watch.
  func progress(_ call: Call<WorkerInterface.Progress.Parameters>) {
    guard let (key, running) = runner.refreshes.task(of: call.parameters.token, calledBy: call.peer) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    audience.watchers.report(
      progress: OutputLines.message(of: call.parameters.text), of: running.app.policy.tasks[key.task].name,
      key.refresh, of: running.app.id)
    call.reply(WorkerInterface.Progress.Reply())
  }
}
