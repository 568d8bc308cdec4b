import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Handles events and answers when what they changed is on disk (DESIGN section 7); what cannot be stored is taken
  /// back by `undo`.
  func change<Parameters>(
    _ events: [Event], undo: [Event], for call: Call<Parameters>, reply: @escaping () -> some Encodable
  ) {
    handleDurably(events) { problem in
      if let problem {
        for event in undo { self.handle(event) }
        call.fail(ManagerInterface.NotStored(problem: problem.description))
      } else {
        call.reply(reply())
      }
    }
  }

  /// The rows of apps as they are now, in this order.
  func rows(of apps: [AppConfiguration]) -> [Wire.App] { apps.map { view(of: $0).row } }

  /// The instant that a caller means by a wall time; nil for one that lies before 1970 or beyond ten years from now.
  func instant(ofWallMicroseconds microseconds: Int64) -> Instant? {
    let now = core.readClocks()
    let latest = (now + Duration.longest).wallMicroseconds(at: core.engine.wallOffset)
    guard (0...max(0, latest)).contains(microseconds) else { return nil }
    return Instant(microseconds: microseconds) - core.engine.wallOffset
  }
}
