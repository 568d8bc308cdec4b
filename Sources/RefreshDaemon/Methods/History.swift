import RefreshAPI
import RefreshStore
import Varlink

extension Daemon {
  /// Tells the refreshes of an app that have ended, the newest first.
  func history(_ call: Call<ManagerInterface.History.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    if let limit = call.parameters.limit, limit < 1 { return call.fail(InvalidParameter(parameter: "limit")) }
    Task {
      do throws(StoreError) {
        let refreshes = try await store.history(of: app.id, limit: call.parameters.limit ?? .max)
        call.reply(ManagerInterface.History.Reply(refreshes: refreshes.map(Wire.Refresh.init)))
      } catch {
        notice(error)
        call.fail(ManagerInterface.NotReadable(problem: error.description))
      }
    }
  }
}
