import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Adds the methods that list, explain and watch apps.
  func serveLists(_ interface: inout Interface) {
    interface.serve(ManagerInterface.List.self, as: .work, forPeople { self.list($0) })
    interface.serve(ManagerInterface.Show.self, as: .query) { self.show($0) }
    interface.serve(ManagerInterface.Why.self, as: .work) { self.why($0) }
    interface.serve(ManagerInterface.Watch.self, as: .watch) { self.watch($0) }
  }

  /// Shows all about one app.
  func show(_ call: Call<ManagerInterface.Show.Parameters>) {
    runner.lastRefreshes.onceLoaded {
      guard let app = self.app(named: call.parameters.app, for: call) else { return }
      call.reply(ManagerInterface.Show.Reply(app: self.view(of: app).details(for: Viewer(call.peer))))
    }
  }

  /// Lists the apps that the caller may ask about by id, apps with stale data first.
  func list(_ call: Call<ManagerInterface.List.Parameters>) {
    runner.lastRefreshes.onceLoaded {
      let apps = self.apps(for: call.peer)
      self.rows(of: apps, for: call) { rows in
        let isStale = { (row: Wire.App) in row.staleSinceMicroseconds != nil }
        call.reply(
          ManagerInterface.List.Reply(
            apps: rows.filter(isStale) + rows.filter { !isStale($0) },
            hasAppsOfOthers: self.hasAppsOfOthers(than: apps.count, for: call.peer)))
      }
    }
  }

  /// How many past refreshes and waits an explanation shows.
  private static let pastLimit = 20
  /// How many dropped pushes it shows.
  private static let droppedLimit = 10

  /// Explains the verdict on an app, term by term, with its recent refreshes and waits.
  ///
  /// The verdict is in memory: if the disk does not answer, only the past is missing.
  func why(_ call: Call<ManagerInterface.Why.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    saving.reads.past(of: app.id, limit: Self.pastLimit) { result in
      var (past, problem) = (AppPast(refreshes: [], waits: [], dropped: []), StoreError?.none)
      switch result {
      case .success(let read): past = read
      case .failure(let error) where error.code == .unanswered: problem = error
      case .failure: return self.answer(call, result) { _ in }
      }
      // The app may have left the configuration while the store was read.
      guard let app = self.core.configuration[app.id],
        let why = self.explanation(
          of: app, past: past.wire(of: app.id, limit: Self.pastLimit, for: Viewer(call.peer)), past.dropped, problem,
          for: Viewer(call.peer))
      else { return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app)) }
      call.reply(ManagerInterface.Why.Reply(why: why))
    }
  }

  private func explanation(
    of app: AppConfiguration, past: [Wire.Past], _ dropped: [StoredDroppedPush], _ problem: StoreError?,
    for viewer: Viewer
  ) -> Wire.Explanation? {
    let view = view(of: app)
    let now = core.readClocks()
    return core.engine.explain(app.id, at: now).map { explanation in
      ExplanationView(
        view: view, explanation: explanation, conditions: core.engine.conditions, pause: core.engine.device.pause,
        past: past,
        pushesUsed: core.engine.pushesUsed(by: app.id, at: now),
        pushesDropped: Array(dropped.prefix(Self.droppedLimit)),
        minutesEast: core.engine.zone.minutesEast(at: core.wall(now)), pastProblem: problem?.description,
        launcherProblem: ports.processes.problem, watched: changes.states(of: app),
        pingProblem: pingProblem(of: app.id), viewer: viewer
      ).wire
    }
  }

  /// Reports events until the connection ends.
  func watch(_ call: Call<ManagerInterface.Watch.Parameters>) {
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    guard call.peer.confinement != .fromAll else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy(for: call.peer)))
    }
    var named: Set<AppID>?
    if let names = call.parameters.apps {
      guard let apps = apps(named: names, for: call) else { return }
      named = Set(apps.map(\.id))
    }
    audience.watchers.add(call, of: named)
  }
}

extension Daemon {
  /// Adds the methods about the past and the future, and about what was learnt from them.
  func serveHistory(_ interface: inout Interface) {
    interface.serve(ManagerInterface.History.self, as: .work) { self.history($0) }
    interface.serve(ManagerInterface.Timeline.self, as: .work, forPeople { self.timeline($0) })
    interface.serve(ManagerInterface.Forecast.self, as: .work, forPeople { self.forecast($0) })
    interface.serve(ManagerInterface.Usage.self, as: .work, forPeople { self.usage($0) })
    interface.serve(ManagerInterface.Openings.self, as: .work, forPeople { self.openings($0) })
    interface.serve(ManagerInterface.Forget.self, forPeople { self.forget($0) })
  }

  /// Lists the refreshes of an app that have ended, newest first.
  func history(_ call: Call<ManagerInterface.History.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    if let limit = call.parameters.limit, limit < 1 { return call.fail(InvalidParameter(parameter: "limit")) }
    let limit = call.parameters.limit ?? .max
    readPast(of: app.id, limit: limit, for: call) { past in
      // Leaves out pushes that were dropped before the oldest listed refresh.
      let oldest = past.refreshes.count < limit ? nil : past.refreshes.last?.startedWallMicroseconds
      let shown = past.dropped.filter { push in oldest.map { push.droppedWallMicroseconds >= $0 } ?? true }
      call.reply(
        ManagerInterface.History.Reply(
          refreshes: past.refreshes.map { Wire.Refresh($0, of: app.id, for: Viewer(call.peer)) },
          pushesDropped: shown.map(Wire.DroppedPush.init)))
    }
  }

  /// Reads an app's past from the store; answers the call if that fails.
  func readPast<Parameters>(
    of app: AppID, limit: Int, for call: Call<Parameters>, then answer: @escaping (AppPast) -> Void
  ) {
    saving.reads.past(of: app, limit: limit) { self.answer(call, $0, answer) }
  }

  /// Answers a call with the value that was read, or with the error.
  func answer<Parameters, Value>(
    _ call: Call<Parameters>, _ result: Result<Value, StoreError>, _ answer: (Value) -> Void
  ) {
    switch result {
    case .success(let value): answer(value)
    case .failure(let problem):
      saving.readFailed(problem)
      call.fail(ManagerInterface.NotReadable(problem: problem.description))
    }
  }

  /// Lists the times at which the user opened an app, newest first.
  func openings(_ call: Call<ManagerInterface.Openings.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    saving.reads.openings(of: app.id) { result in
      self.answer(call, result) { openings in
        call.reply(
          ManagerInterface.Openings.Reply(
            openingsMicroseconds: openings.map(\.wallMicroseconds), spans: openings.map(Wire.OpeningSpan.init)))
      }
    }
  }

  /// Lists the refreshes and waits of an app since a moment, as far as the history goes back.
  func timeline(_ call: Call<ManagerInterface.Timeline.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let since = call.parameters.sinceMicroseconds
    readPast(of: app.id, limit: .max, for: call) { past in
      let now = self.view(of: app)
      let waiting = now.state.waiting.map { Wire.Waiting($0, wallOffset: self.core.engine.wallOffset) }
      call.reply(
        ManagerInterface.Timeline.Reply(
          past: past.wire(of: app.id, for: Viewer(call.peer)).filter { $0.endMicroseconds >= since }, waiting: waiting,
          running: now.running))
    }
  }
}

extension AppPast {
  /// Refreshes and waits, newest first, `limit` at most.
  func wire(of app: AppID, limit: Int = .max, for viewer: Viewer) -> [Wire.Past] {
    let all =
      refreshes.map { ($0.startedWallMicroseconds, Wire.Past(refresh: Wire.Refresh($0, of: app, for: viewer))) }
      + waits.map { ($0.sinceWallMicroseconds, Wire.Past(wait: Wire.Wait($0))) }
    return all.sorted { $0.0 > $1.0 }.prefix(limit).map(\.1)
  }
}

extension Wire.Past {
  fileprivate var endMicroseconds: Int64 {
    refresh.map { $0.startedMicroseconds + $0.durationMicroseconds } ?? wait?.untilMicroseconds ?? 0
  }
}

extension Wire.OpeningSpan {
  fileprivate init(_ opening: StoredOpening) {
    self.init(
      sinceMicroseconds: opening.wallMicroseconds, untilMicroseconds: opening.endWallMicroseconds,
      isObserved: opening.isObserved)
  }
}

extension Daemon {
  /// Forecasts the next starts, by a copy of the engine in virtual time.
  func forecast(_ call: Call<ManagerInterface.Forecast.Parameters>) {
    let hours = call.parameters.hours ?? 24
    guard (1...168).contains(hours) else { return call.fail(InvalidParameter(parameter: "hours")) }
    var apps = core.configuration.apps
    if let name = call.parameters.app {
      guard let app = app(named: name, for: call) else { return }
      apps = [app]
    }
    let asked = Set(apps.lazy.filter { self.core.access.may(call.peer, about: $0) }.map(\.id))
    let others =
      asked.count < apps.count ? hasAppsOfOthers(than: asked.count, for: call.peer) : nil
    let now = core.readClocks()
    guard !asked.isEmpty else {
      return call.reply(
        ManagerInterface.Forecast.Reply(
          fromMicroseconds: core.wall(now), untilMicroseconds: core.wall(now + .hours(Int64(hours))), isCut: false,
          wakes: [], rest: [], hasAppsOfOthers: others))
    }
    forecasts.begin(call) {
      Forecaster(
        self.core.engine, apps: asked, for: .hours(Int64(hours)), at: self.core.readClocks(), hasAppsOfOthers: others)
    }
  }
}

/// The forecasts that callers wait for.
///
/// Each user has one at a time, and they take turns on their thread. Each has a copy of the engine, so there are few at once.
final class Forecasts {
  typealias ForecastCall = Call<ManagerInterface.Forecast.Parameters>
  /// Goes on with a forecast; nil if there is more to do.
  typealias Work = (Forecaster, @escaping (ManagerInterface.Forecast.Reply?) -> Void) -> Void

  private static let most = 4
  private let ports: Ports
  private var underWay = 0
  private var waiting: [(call: ForecastCall, make: () -> Forecaster)] = []

  init(_ ports: Ports) { self.ports = ports }

  /// Answers a call with a forecast, which is made when its turn comes.
  func begin(_ call: ForecastCall, _ make: @escaping () -> Forecaster) {
    waiting.append((call, make))
    beginNext()
  }

  private func beginNext() {
    while underWay < Self.most, !waiting.isEmpty {
      let next = waiting.removeFirst()
      // A caller that is gone must not keep the others waiting.
      guard !next.call.isUnheard else {
        next.call.drop()
        continue
      }
      underWay += 1
      goOn(next.make(), for: next.call)
    }
  }

  private func goOn(_ forecaster: Forecaster, for call: ForecastCall) {
    ports.forecast(forecaster) { [self] reply in
      if reply == nil, !call.isUnheard { return goOn(forecaster, for: call) }
      underWay -= 1
      if let reply { call.reply(reply) } else { call.drop() }
      if underWay == 0, waiting.isEmpty { ports.trimMemory() }
      beginNext()
    }
  }
}

extension Daemon {
  /// Shows the engine's learners of an app.
  func usage(_ call: Call<ManagerInterface.Usage.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let habits = core.engine.hasHabits(app.id) ? core.engine.habits(of: app.id) : nil
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
      days: Wire.KindOfDay.kinds(of: habits.usage), named: habits.usage.habits.map(Wire.Habit.init),
      newDataPerDay: habits.newDataPerDay, cost: habits.cost, pinned: pinned.filter(\.1).map(\.0))
  }
}

extension Wire.KindOfDay {
  /// How many openings a day may differ between days that are alike, at the least.
  private static let leastApart = 0.1
  /// The part of a day's openings that may differ between days that are alike.
  private static let partApart = 0.25

  /// The days of the week, with similar days together.
  static func kinds(of usage: Usage) -> [Self] {
    Wire.Weekday.allCases.enumerated().reduce(into: []) { kinds, each in
      let day = Self(
        weekdays: [each.element], openings: usage.openings(onDay: each.offset), seen: usage.seen(onDay: each.offset))
      if let index = kinds.firstIndex(where: { $0.isLike(day) }) {
        kinds[index] = kinds[index].joined(with: day)
      } else {
        kinds.append(day)
      }
    }
  }

  /// Whether about as many openings come at the same times as on another day.
  private func isLike(_ day: Self) -> Bool {
    let apart = zip(seen, day.seen).reduce(0) { $0 + abs($1.0 - $1.1) }
    return apart <= max(Self.leastApart, Self.partApart * max(seen.reduce(0, +), day.seen.reduce(0, +)))
  }

  /// The kind with one more day; its openings are the mean of its days.
  private func joined(with day: Self) -> Self {
    let days = Double(weekdays.count)
    func mean(_ before: [Double], _ new: [Double]) -> [Double] {
      zip(before, new).map { ($0 * days + $1) / (days + 1) }
    }
    return Self(
      weekdays: weekdays + day.weekdays, openings: mean(openings, day.openings), seen: mean(seen, day.seen))
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
