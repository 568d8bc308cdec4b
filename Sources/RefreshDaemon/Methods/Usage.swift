import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Shows what the engine has learnt about an app.
  func usage(_ call: Call<ManagerInterface.Usage.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let habits = app.policy.isAdaptive ? core.engine.habits(of: app.id) : nil
    call.reply(ManagerInterface.Usage.Reply(habits: habits.map { Wire.Habits($0, pins: app.policy.pins) }))
  }

  /// Forgets what was learnt about apps: about all that are named, or none.
  func forget(_ call: Call<ManagerInterface.Forget.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .forgotten($0.id) }, for: call) {
      ManagerInterface.Forget.Reply(apps: self.rows(of: apps))
    }
  }
}

extension Wire.Habits {
  fileprivate init(_ habits: Habits, pins: Pins) {
    let pinned: [(String, Bool)] = [
      ("openings", !pins.openings.isEmpty), ("new_data_per_day", pins.newDataPerDay != nil), ("cost", pins.cost != nil),
    ]
    self.init(
      week: habits.usage.week, weekend: habits.usage.weekend, newDataPerDay: habits.newDataPerDay, cost: habits.cost,
      pinned: pinned.filter(\.1).map(\.0))
  }
}
