import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Passes over the next refresh of each app that would start by time: of all that are named, or of none.
  func skip(_ call: Call<ManagerInterface.Skip.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    let before = apps.map { self.core.engine.state(of: $0.id)?.skippedUntil }
    change(apps.map { .skipped($0.id) }, undo: [], for: call) {
      let unchanged = zip(apps, before).filter { self.core.engine.state(of: $0.id)?.skippedUntil == $1 }
      return ManagerInterface.Skip.Reply(
        apps: self.rows(of: apps), unchanged: unchanged.map { $0.0.id.description })
    }
  }
}
