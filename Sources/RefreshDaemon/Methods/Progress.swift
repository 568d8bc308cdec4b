import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Reports the progress of the token's task to the clients that watch.
  func progress(_ call: Call<WorkerInterface.Progress.Parameters>) {
    guard let key = runner.task(of: call.parameters.token), let running = runner[key.refresh], running.performer == nil,
      // The worker runs as the owner; another user may not use a token that it found.
      running.app.owner.uid == call.peer.uid
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    audience.watchers.report(
      progress: OutputLines.message(of: call.parameters.text), of: running.app.policy.tasks[key.task].name,
      key.refresh, of: running.app.id)
    call.reply(WorkerInterface.Progress.Reply())
  }
}
