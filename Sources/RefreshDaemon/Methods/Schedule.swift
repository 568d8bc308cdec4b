import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Refreshes an app once at a later time (FEATURES A13).
  func schedule(_ call: Call<ManagerInterface.Schedule.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let holds = core.engine.lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: core.engine.wire(holds, of: app.id)))
    }
    guard let earliest = instant(ofWallMicroseconds: call.parameters.earliestMicroseconds) else {
      return call.fail(InvalidParameter(parameter: "earliest_us"))
    }
    let oneShot = OneShot(earliest: earliest, reason: call.parameters.reason ?? "")
    let undo = core.engine.state(of: app.id)?.oneShot.map { [Event.scheduled(app.id, $0)] } ?? []
    change([.scheduled(app.id, oneShot)], undo: undo, for: call) {
      ManagerInterface.Schedule.Reply(oneShot: Wire.OneShot(oneShot, wallOffset: self.core.engine.wallOffset))
    }
  }
}
