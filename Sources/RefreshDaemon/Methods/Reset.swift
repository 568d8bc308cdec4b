import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Puts the intervals of the files in force again and forgets what is learnt: of all apps that are named, or of none.
  func reset(_ call: Call<ManagerInterface.Reset.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    override(apps, for: call, and: { .forgotten($0) }) {
      $0 = Overrides()
    } reply: {
      ManagerInterface.Reset.Reply(apps: $0)
    }
  }
}
