import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Ends a running refresh as its deadline would.
  func expire(_ call: Call<ManagerInterface.Expire.Parameters>) {
    // The refresh of another user's app is none for the caller.
    guard let id = RefreshID(call.parameters.refresh), let app = runner.refreshes[id]?.app,
      core.may(call.peer, about: app.id)
    else { return call.fail(ManagerInterface.NoSuchRefresh(refresh: call.parameters.refresh)) }
    ports.journal.expired(id, of: app.id, by: call.peer.uid)
    let before = core.engine.deadline(of: id)
    core.handle(.expired(id))
    // The deadline is only brought forward for a warning; else the refresh is asked to end now.
    let after = core.engine.deadline(of: id)
    let end = after == before ? core.now : after ?? core.now
    call.reply(ManagerInterface.Expire.Reply(app: app.id.description, deadlineMicroseconds: core.wall(end)))
  }
}
