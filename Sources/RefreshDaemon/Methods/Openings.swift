import RefreshAPI
import RefreshStore
import Varlink

extension Daemon {
  /// Tells when the user brought an app to the foreground, the newest first.
  func openings(_ call: Call<ManagerInterface.Openings.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    Task {
      do throws(StoreError) {
        call.reply(ManagerInterface.Openings.Reply(openingsMicroseconds: try await store.openings(of: app.id)))
      } catch {
        notice(error)
        call.fail(ManagerInterface.NotReadable(problem: error.description))
      }
    }
  }
}
