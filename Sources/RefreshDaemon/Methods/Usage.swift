import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Shows the engine's learners of an app.
  func usage(_ call: Call<ManagerInterface.Usage.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let habits = app.policy.isAdaptive ? core.engine.habits(of: app.id) : nil
    saving.reads.openings(of: app.id) { result in
      self.answer(call, result) { openings in
        let observed = openings.count { $0.isObserved }
        call.reply(
          ManagerInterface.Usage.Reply(
            habits: habits.map { Wire.Habits($0, pins: app.policy.pins) },
            openingsTold: openings.count - observed, openingsObserved: observed))
      }
    }
  }

  /// Clears the learners of apps: of all named apps, or none.
  func forget(_ call: Call<ManagerInterface.Forget.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    change(apps.map { .forgotten($0.id) }, of: apps, for: call) { ManagerInterface.Forget.Reply(apps: $0) }
  }
}

extension Wire.Habits {
  fileprivate init(_ habits: Habits, pins: Pins) {
    let pinned: [(String, Bool)] = [
      ("openings", !pins.openings.isEmpty), ("new_data_per_day", pins.newDataPerDay != nil), ("cost", pins.cost != nil),
    ]
    self.init(
      days: habits.usage.kindsOfDay.map(Wire.KindOfDay.init), named: habits.usage.habits.map(Wire.Habit.init),
      newDataPerDay: habits.newDataPerDay, cost: habits.cost, pinned: pinned.filter(\.1).map(\.0))
  }
}

extension Wire.KindOfDay {
  fileprivate init(_ kind: KindOfDay) {
    self.init(weekdays: Wire.Weekday.of(kind.weekdays), openings: kind.openings, seen: kind.seen)
  }
}

extension Wire.Habit {
  /// A habit as the socket shows it.
  init(_ habit: Habit) {
    self.init(
      minute: habit.minuteOfDay, spreadMinutes: habit.spread, weekdays: Wire.Weekday.of(habit.weekdays),
      met: habit.met, days: habit.days)
  }
}

extension Wire.Weekday {
  /// The days whose bit is set, bit 0 for Monday.
  fileprivate static func of(_ bits: UInt8) -> [Self] {
    allCases.enumerated().filter { bits & 1 << UInt8($0.offset) != 0 }.map(\.element)
  }
}
