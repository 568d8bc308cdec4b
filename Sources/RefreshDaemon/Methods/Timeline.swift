import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Tells what became of an app since a moment, as far as the history goes back (FEATURES H7).
  func timeline(_ call: Call<ManagerInterface.Timeline.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let since = call.parameters.sinceMicroseconds
    Task {
      do throws(StoreError) {
        let past = try await past(of: app.id, limit: .max).filter { $0.endMicroseconds >= since }
        let now = view(of: app)
        let waiting = now.state.waiting.map { Wire.Waiting($0, wallOffset: engine.wallOffset) }
        call.reply(ManagerInterface.Timeline.Reply(past: past, waiting: waiting, running: now.running))
      } catch {
        notice(error)
        call.fail(ManagerInterface.NotReadable(problem: error.description))
      }
    }
  }
}

extension Wire.Past {
  fileprivate var endMicroseconds: Int64 {
    refresh.map { $0.startedMicroseconds + $0.durationMicroseconds } ?? wait?.untilMicroseconds ?? 0
  }
}
