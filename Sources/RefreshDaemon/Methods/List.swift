import RefreshAPI
import Varlink

extension Daemon {
  /// Lists the apps that the caller may ask about, those with stale data first, each by id.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    lasts.onceLoaded {
      let apps = self.core.configuration.apps.filter { self.core.access.may(call.peer, about: $0) }
      let rows = apps.map { self.view(of: $0).row }
      let isStale = { (row: Wire.App) in row.staleSinceMicroseconds != nil }
      call.reply(ManagerInterface.List.Reply(apps: rows.filter(isStale) + rows.filter { !isStale($0) }))
    }
  }
}
