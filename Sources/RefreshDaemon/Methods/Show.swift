import RefreshAPI
import Varlink

extension Daemon {
  /// Shows all about one app.
  func show(_ call: Call<ManagerInterface.Show.Parameters>) {
    runner.lastRefreshes.onceLoaded {
      guard let app = self.app(named: call.parameters.app, for: call) else { return }
      call.reply(ManagerInterface.Show.Reply(app: self.view(of: app).details(for: Viewer(call.peer))))
    }
  }

  /// Lists the apps that the caller may ask about by id, apps with stale data first.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    runner.lastRefreshes.onceLoaded {
      let apps = self.apps(for: call.peer)
      self.rows(of: apps, for: call) { rows in
        let isStale = { (row: Wire.App) in row.staleSinceMicroseconds != nil }
        call.reply(
          ManagerInterface.List.Reply(
            apps: rows.filter(isStale) + rows.filter { !isStale($0) },
            hasAppsOfOthers: self.hasAppsOfOthers(than: apps.count, for: call.peer)))
      }
    }
  }
}
