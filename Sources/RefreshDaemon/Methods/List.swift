import RefreshAPI
import Varlink

extension Daemon {
  /// Lists the apps that the caller may ask about, by id.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    onceLoaded {
      let apps = self.configuration.apps.values.filter { self.access.may(call.peer, about: $0) }
      let rows = apps.sorted { $0.id < $1.id }.map { self.view(of: $0).row }
      call.reply(ManagerInterface.List.Reply(apps: rows))
    }
  }
}
