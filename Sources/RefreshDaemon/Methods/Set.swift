import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Overrides the intervals of apps: of all named apps, or none.
  func set(_ call: Call<ManagerInterface.Set.Parameters>) {
    guard let apps = refreshedApps(named: call.parameters.apps, for: call) else { return }
    let foreground: Interval?
    let background: Interval?
    do throws(ManagerInterface.InvalidInterval) {
      foreground = try interval(call.parameters.foregroundInterval, floor: core.engine.limits.foregroundFloor)
      background = try interval(call.parameters.backgroundInterval, floor: core.engine.limits.backgroundFloor)
    } catch {
      return call.fail(error)
    }
    override(apps, for: call) { overrides in
      overrides.foregroundInterval = foreground ?? overrides.foregroundInterval
      overrides.backgroundInterval = background ?? overrides.backgroundInterval
    } reply: {
      ManagerInterface.Set.Reply(apps: $0)
    }
  }

  /// Changes overrides, and answers when they are on the disk.
  func override<Parameters>(
    _ apps: [AppConfiguration], for call: Call<Parameters>, change: (inout Overrides) -> Void,
    reply: @escaping ([Wire.Intervals]) -> some JSONWritable
  ) {
    var changes: [Event] = []
    for app in apps {
      var after = core.engine.state(of: app.id)?.overrides ?? Overrides()
      change(&after)
      changes.append(.overridden(app.id, after))
    }
    self.change(changes, for: call) { reply(apps.map(self.intervals)) }
  }

  private func interval(_ text: String?, floor: Duration) throws(ManagerInterface.InvalidInterval) -> Interval? {
    guard let text else { return nil }
    do throws(Unreadable) {
      return try Interval(text, floor: floor)
    } catch {
      throw ManagerInterface.InvalidInterval(text: text, problem: error.description)
    }
  }

  /// Resets apps to the intervals of their files, and keeps what is learnt: all named apps, or none.
  func reset(_ call: Call<ManagerInterface.Reset.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    override(apps, for: call) {
      $0 = Overrides()
    } reply: {
      ManagerInterface.Reset.Reply(apps: $0)
    }
  }
}
