import RefreshAPI
import Varlink

extension Daemon {
  /// Lists the apps that the caller may ask about, by id.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    let apps = configuration.apps.filter { access.may(call.peer, about: $0) }
    let rows = apps.map { view(of: $0).row }
    call.reply(ManagerInterface.List.Reply(apps: rows))
  }
}
