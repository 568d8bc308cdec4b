import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Refreshes an app now, or once more after the refresh that is running, and tells how that goes.
  func run(_ call: Call<ManagerInterface.Run.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    switch engine.verdict(on: app.id, at: Moment.now().instant) {
    case .held(let holds) where holds != [.never]:
      let name = app.id.description
      return call.fail(ManagerInterface.Held(app: name, holds: holds.map { $0.wire(of: name) }))
    case .refreshing where call.wantsMore:
      call.reply(ManagerInterface.Run.Reply(event: .queued), continues: true)
    case .held, .refreshing, .ready, .notDue:
      break
    }
    refreshes.wait(call, for: app.id)
    handle(.requested(app.id, call.parameters.trigger.map(Trigger.init) ?? .manual))
  }
}
