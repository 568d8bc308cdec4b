import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Lists the refreshes and waits of an app since a moment, as far as the history goes back.
  func timeline(_ call: Call<ManagerInterface.Timeline.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let since = call.parameters.sinceMicroseconds
    readPast(of: app.id, limit: .max, for: call) { past in
      let now = self.view(of: app)
      let waiting = now.state.waiting.map { Wire.Waiting($0, wallOffset: self.core.engine.wallOffset) }
      call.reply(
        ManagerInterface.Timeline.Reply(
          past: past.wire().filter { $0.endMicroseconds >= since }, waiting: waiting, running: now.running))
    }
  }
}

extension Wire.Past {
  fileprivate var endMicroseconds: Int64 {
    refresh.map { $0.startedMicroseconds + $0.durationMicroseconds } ?? wait?.untilMicroseconds ?? 0
  }
}
