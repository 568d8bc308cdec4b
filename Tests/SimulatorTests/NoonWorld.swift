@testable import RefreshEngine

/// A machine in virtual time whose apps are opened at noon each day, and which drives the learners as the engine does.
///
/// The source of each app has something new every ten minutes. A planted fault is a mistake in how it drives them.
struct NoonWorld {
  /// A mistake made on purpose.
  enum Fault: String, Sendable {
    /// The value of being fresh is learnt as if a refresh might follow another at once.
    case floorForgotten
    /// The plan hears of an opening only in the night: a habit counts twice on a day, as met and as still to come.
    case habitCountedTwice
    /// All apps pay one price, which each night follows all refreshes of the machine, the forced ones too.
    case priceWoundUp
  }

  /// How an app is opened, and how often it may and must be refreshed.
  struct Habit {
    /// Minutes of the day.
    var openings: [Double]
    /// How many minutes an opening is early or late at most; users are not clocks.
    var spread = 2.0
    var floor: Double
    var ceiling = 1440.0
    /// Whether it is also opened every other day, each time at another hour.
    var isOpenedElse = false
  }

  private struct App {
    let habit: Habit
    var learned = AppHabits()
    var synced = 0.0
    var started = 0.0
    var planned = 0.0
    var untold: [Double] = []
    var ages: [Double] = []
    var refreshes = 0
  }

  /// Days that are not measured.
  private static let warmUp = 21
  private static let days = 42
  private static let newEvery = 10.0
  private static let day = LocalTime.minutesOfDay

  private var apps: [App]
  private var device: DeviceHabits
  private let fault: Fault?

  /// Lives through six weeks with these apps.
  init(_ habits: [Habit], profile: Profile = .balanced, fault: Fault? = nil) {
    self.fault = fault
    device = DeviceHabits(budget: Budget(profile: profile))
    apps = habits.map { App(habit: $0) }
    for day in 0..<Self.days { live(through: day) }
  }

  /// The mean age that openings of an app met after three weeks, in minutes.
  func age(of app: Int) -> Double { apps[app].ages.reduce(0, +) / Double(max(1, apps[app].ages.count)) }

  /// Refreshes of an app a day, after three weeks.
  func refreshesADay(of app: Int) -> Double { Double(apps[app].refreshes) / Double(Self.days - Self.warmUp) }

  private mutating func live(through day: Int) {
    passNight(day)
    let midnight = Double(day) * Self.day
    for app in apps.indices {
      let habit = apps[app].habit
      let usual = habit.openings.map { $0 + Double(day * 11 % 9 - 4) / 4 * habit.spread }
      let other = habit.isOpenedElse && day.isMultiple(of: 2) ? [Double(day * 7 % 24) * 60 + 25] : []
      for minute in (usual + other).sorted() { open(app, at: midnight + minute, isUsual: usual.contains(minute)) }
      refresh(app, until: midnight + Self.day)
    }
  }

  private mutating func passNight(_ day: Int) {
    let spent = apps.reduce(0.0) { $0 + Double($1.learned.spending.today) }
    device.beginNight()
    for app in apps { device.absorb(app.learned, most: Self.day / app.habit.floor) }
    device.endNight()
    let over = (spent + 1) / (device.budget.refreshesPerAppAndDay * Double(apps.count) + 1)
    for app in apps.indices {
      tell(app)
      let floor = fault == .floorForgotten ? 10 : apps[app].habit.floor
      let factor = apps[app].learned.spending.factor
      apps[app].learned.passNights(upTo: day, floor: floor, ceiling: apps[app].habit.ceiling, device)
      if fault == .priceWoundUp { apps[app].learned.spending.factor = factor * Float(min(max(over, 0.5), 2)) }
      plan(app, at: Double(day) * Self.day)
    }
  }

  private mutating func open(_ app: Int, at minute: Double, isUsual: Bool) {
    refresh(app, until: minute)
    if isUsual, minute >= Double(Self.warmUp) * Self.day { apps[app].ages.append(age(app, at: minute)) }
    apps[app].untold.append(minute)
    if fault != .habitCountedTwice { tell(app) }
    sync(app, at: minute)
  }

  /// Tells the learner of the openings since it was told last.
  private mutating func tell(_ app: Int) {
    for minute in apps[app].untold { apps[app].learned.opened(at: LocalTime(minutes: minute)) }
    apps[app].untold = []
  }

  /// Refreshes an app whenever its plan has come.
  private mutating func refresh(_ app: Int, until end: Double) {
    while apps[app].planned < end {
      let minute = apps[app].planned
      if minute >= Double(Self.warmUp) * Self.day { apps[app].refreshes += 1 }
      if !apps[app].learned.spending.isForced || fault == .priceWoundUp { apps[app].learned.spending.today += 1 }
      sync(app, at: minute)
    }
  }

  private mutating func sync(_ app: Int, at minute: Double) {
    let foundNew = age(app, at: minute) > 0
    apps[app].learned.synced(
      after: minute - apps[app].synced, at: LocalTime(minutes: minute), foundNew: foundNew, device)
    (apps[app].synced, apps[app].started) = (minute, minute)
    plan(app, at: minute)
  }

  private mutating func plan(_ app: Int, at minute: Double) {
    let (habit, age) = (apps[app].habit, minute - apps[app].started)
    let plan = apps[app].learned.plan(
      at: LocalTime(minutes: minute), age: age, notBefore: max(0, habit.floor - age),
      ceiling: max(0, habit.ceiling - age), device, Pins())
    apps[app].planned = minute + plan.wait
    apps[app].learned.spending.isForced = plan.isForced
  }

  /// Minutes since the first update after the last sync; 0 if there was none.
  private func age(_ app: Int, at minute: Double) -> Double {
    max(0, minute - ((apps[app].synced / Self.newEvery).rounded(.down) + 1) * Self.newEvery)
  }
}
