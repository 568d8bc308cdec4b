import RefreshAPI
import Varlink

extension Daemon {
  /// Shows all about one app.
  func show(_ call: Call<ManagerInterface.Show.Parameters>) {
    lasts.onceLoaded {
      guard let app = self.app(named: call.parameters.app, for: call) else { return }
      call.reply(ManagerInterface.Show.Reply(app: self.view(of: app).details))
    }
  }
}
