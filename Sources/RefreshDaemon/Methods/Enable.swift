import RefreshAPI
import Varlink

extension Daemon {
  /// Lets apps be refreshed again that were disabled: all that are named, or none.
  func enable(_ call: Call<ManagerInterface.Enable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    flip(apps, isDisabled: false, for: call) { ManagerInterface.Enable.Reply(apps: $0) }
  }
}
