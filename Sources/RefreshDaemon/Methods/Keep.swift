import RefreshAPI
import Varlink

extension Daemon {
  /// Takes a keeper's report, and answers when it is saved: the keeper touches its unit only after that.
  func keep(_ call: Call<WorkerInterface.Keep.Parameters>) {
    let asked = call.parameters
    core.readClocks()
    guard guards.noteReport(asked.token, isKept: asked.isKept, asked.text, from: call.peer.uid) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    saving.afterCommit { call.reply() }
    saving.commitSoon()
  }
}
