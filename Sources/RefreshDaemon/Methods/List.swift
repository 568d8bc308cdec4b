import RefreshAPI
import Varlink

extension Daemon {
  /// Lists the apps that the caller may ask about, by id.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    onceLoaded {
      let apps = self.configuration.apps.filter { self.access.may(call.peer, about: $0) }
      call.reply(ManagerInterface.List.Reply(apps: apps.map { self.view(of: $0).row }))
    }
  }
}
