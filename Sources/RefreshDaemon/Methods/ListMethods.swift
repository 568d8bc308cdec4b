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
