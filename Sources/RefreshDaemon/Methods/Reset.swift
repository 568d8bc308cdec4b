import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Puts the intervals of the files in force again: of all apps that are named, or of none.
  func reset(_ call: Call<ManagerInterface.Reset.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    override(apps, for: call) {
      $0 = Overrides()
    } reply: {
      ManagerInterface.Reset.Reply(apps: $0)
    }
  }
}
