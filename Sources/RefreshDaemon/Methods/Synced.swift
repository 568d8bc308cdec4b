import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Counts a sync that an app made by itself.
  func synced(_ call: Call<AppInterface.Synced.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    core.handle(.synced(app.id, foundNew: call.parameters.newData ?? false))
    call.reply(AppInterface.Synced.Reply())
  }
}
