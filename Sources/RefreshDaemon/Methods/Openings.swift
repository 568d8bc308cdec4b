import RefreshAPI
import RefreshStore
import Varlink

extension Daemon {
  /// Lists the times at which the user opened an app, newest first.
  func openings(_ call: Call<ManagerInterface.Openings.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    ports.store.openings(of: app.id) { result in
      self.answer(call, result) { call.reply(ManagerInterface.Openings.Reply(openingsMicroseconds: $0)) }
    }
  }
}
