import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Disables apps: all named apps, or none.
  func disable(_ call: Call<ManagerInterface.Disable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .disabled($0.id, true) }, of: apps, for: call) {
      for app in apps where self.core.engine.state(of: app.id)?.isDisabled == true {
        self.audience.runCalls.giveUp(app.id, .disabled)
      }
    } reply: {
      ManagerInterface.Disable.Reply(apps: $0)
    }
  }

  /// Enables apps: all named apps, or none.
  func enable(_ call: Call<ManagerInterface.Enable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .disabled($0.id, false) }, of: apps, for: call) { ManagerInterface.Enable.Reply(apps: $0) }
  }
}
