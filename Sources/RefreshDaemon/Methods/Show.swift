import RefreshAPI
import Varlink

extension Daemon {
  /// Shows all about one app.
  func show(_ call: Call<ManagerInterface.Show.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    call.reply(ManagerInterface.Show.Reply(app: view(of: app).details))
  }
}
