import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Schedules one refresh of an app at a later time.
  func schedule(_ call: Call<ManagerInterface.Schedule.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    let holds = core.engine.lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: core.engine.wire(holds, of: app.id)))
    }
    guard let earliest = instant(ofWallMicroseconds: call.parameters.earliestMicroseconds) else {
      return call.fail(InvalidParameter(parameter: "earliest_us"))
    }
    guard (call.parameters.reason ?? "").utf8.count <= OneShot.longestReason else {
      return call.fail(InvalidParameter(parameter: "reason"))
    }
    let oneShot = OneShot(earliest: earliest, reason: call.parameters.reason ?? "")
    change([.scheduled(app.id, oneShot)], for: call) {
      ManagerInterface.Schedule.Reply(oneShot: Wire.OneShot(oneShot, wallOffset: self.core.engine.wallOffset))
    }
  }

  /// Skips the next refresh by time of each app, or all of them until a time: for all named apps, or none.
  func skip(_ call: Call<ManagerInterface.Skip.Parameters>) {
    guard let apps = refreshedApps(named: call.parameters.apps, for: call) else { return }
    let before = apps.map { self.core.engine.state(of: $0.id)?.skippedUntil }
    let until: Instant?
    switch call.parameters.untilMicroseconds {
    case nil: until = nil
    case let microseconds?:
      guard let instant = instant(ofWallMicroseconds: microseconds) else {
        return call.fail(InvalidParameter(parameter: "until_us"))
      }
      until = instant
    }
    let events = apps.map { app in until.map { Event.skippedAll(app.id, until: $0) } ?? .skipped(app.id) }
    var unchanged: [String] = []
    change(events, of: apps, for: call) {
      unchanged = zip(apps, before).filter { self.core.engine.state(of: $0.id)?.skippedUntil == $1 }
        .map { $0.0.id.description }
    } reply: {
      ManagerInterface.Skip.Reply(apps: $0, unchanged: unchanged)
    }
  }
}
