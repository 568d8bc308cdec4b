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
        let limit = call.parameters.limit ?? .max
        let refreshes = try await store.history(of: app.id, limit: limit)
        let dropped = try await store.droppedPushes(of: app.id, limit: limit)
        // Of those before the first refresh that is shown, nothing else is told either.
        let oldest = refreshes.count < limit ? nil : refreshes.last?.startedWallMicroseconds
        let shown = dropped.filter { push in oldest.map { push.droppedWallMicroseconds >= $0 } ?? true }
        call.reply(
          ManagerInterface.History.Reply(
            refreshes: refreshes.map(Wire.Refresh.init), pushesDropped: shown.map(Wire.DroppedPush.init)))
      } catch {
        notice(error)
        call.fail(ManagerInterface.NotReadable(problem: error.description))
      }
    }
  }
}
