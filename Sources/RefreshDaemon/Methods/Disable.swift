import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Disables apps: all named apps, or none.
  func disable(_ call: Call<ManagerInterface.Disable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    flip(apps, isDisabled: true, for: call) { rows in
      for app in apps where self.core.engine.state(of: app.id)?.isDisabled == true {
        self.audience.runCalls.giveUp(app.id, .disabled)
      }
      return ManagerInterface.Disable.Reply(apps: rows)
    }
  }

  /// Disables or enables apps, and answers when that is on the disk.
  func flip<Parameters>(
    _ apps: [AppConfiguration], isDisabled: Bool, for call: Call<Parameters>,
    reply: @escaping ([Wire.App]) -> some JSONWritable
  ) {
    change(apps.map { .disabled($0.id, isDisabled) }, for: call) { reply(self.rows(of: apps)) }
  }

  /// Enables apps: all named apps, or none.
  func enable(_ call: Call<ManagerInterface.Enable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    flip(apps, isDisabled: false, for: call) { ManagerInterface.Enable.Reply(apps: $0) }
  }
}
