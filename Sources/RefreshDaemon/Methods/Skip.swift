import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Passes over the next refresh of each app that would start by time: of all that are named, or of none.
  func skip(_ call: Call<ManagerInterface.Skip.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .skipped($0.id) }, undo: [], for: call) {
      ManagerInterface.Skip.Reply(apps: self.rows(of: apps))
    }
  }
}
