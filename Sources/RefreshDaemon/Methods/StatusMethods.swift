import CLinux
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Adds the methods about the daemon itself.
  func serveStatus(_ interface: inout Interface) {
    interface.serve(ManagerInterface.Status.self, as: .query, forPeople { self.status($0) })
    interface.serve(ManagerInterface.Metrics.self, as: .query, forPeople { self.metrics($0) })
    interface.serve(ManagerInterface.Version.self, as: .query) { self.version($0) }
    interface.serve(ManagerInterface.Check.self, as: .work, forPeople { self.check($0) })
    interface.serve(ManagerInterface.Reload.self, forPeople { self.reload($0) })
  }

  /// Shows the state of the daemon; to a user without further rights, the part about that user's apps.
  func status(_ call: Call<ManagerInterface.Status.Parameters>) {
    guard core.access.maySeeOwn(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy))
    }
    var scope = StatusScope()
    inTurns(core.configuration.apps, for: call) { app, now, nights in
      if self.core.access.may(call.peer, about: app) { scope.add(app, self, at: now, &nights) }
    } then: {
      call.reply(ManagerInterface.Status.Reply(status: self.status(of: scope, for: call.peer)))
    }
  }

  private func status(of scope: StatusScope, for peer: Peer) -> Wire.DaemonStatus {
    let seesAll = core.access.mayAll(peer)
    let transfers = seesAll ? core.engine.transferCounts : nil
    let stuck = stuck(for: peer)
    return Wire.DaemonStatus(
      version: refreshdVersion, start: Int(core.engine.start),
      sinceMicroseconds: core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset),
      isUserDaemon: ports.settings.isUserDaemon, socket: ports.settings.socket,
      launcher: ports.choice.name, launcherReason: launcherReason, apps: scope.apps,
      refreshing: seesAll ? core.engine.refreshingCount : max(0, scope.refreshing - stuck.count),
      transferring: transfers?.running, transfersWaiting: transfers?.waiting,
      next: scope.next(wallOffset: core.engine.wallOffset), held: scope.held,
      pushesWaiting: scope.pushesWaiting > 0 ? scope.pushesWaiting : nil,
      hasAppsOfOthers: hasAppsOfOthers(than: scope.apps, for: peer), pause: core.engine.wirePause,
      configuration: configurationState(for: peer, seesAll: seesAll),
      store: Wire.StoreState(
        directory: ports.settings.stateDirectory, problem: saving.problem?.description,
        isSilent: saving.problem?.code == .unanswered ? true : nil),
      stuck: stuck.isEmpty ? nil : stuck, push: seesAll ? pushes.bridge.state : nil,
      isBridgeMissing: core.configuration.namesPushSources && pushes.bridge.state == nil ? true : nil,
      desktops: desktopStates(for: peer, seesAll: seesAll),
      launcherProblem: ports.processes.problem, unconfined: unconfined,
      guards: scope.guards.isEmpty ? nil : scope.guards, unwatched: scope.unwatched.isEmpty ? nil : scope.unwatched,
      pings: scope.pings.isEmpty ? nil : scope.pings, troubled: scope.troubled.isEmpty ? nil : scope.troubled)
  }

  /// The configuration in force, with the mistakes in the files of the caller's apps, or with all mistakes.
  private func configurationState(for peer: Peer, seesAll: Bool) -> Wire.ConfigurationState {
    let (refused, held) = (core.configuration.refused, core.configuration.held)
    let files = seesAll || refused.isEmpty && held.isEmpty ? [] : Set(apps(for: peer).map(\.file))
    func shown(_ problems: [Problem]) -> [Wire.Problem] {
      problems.filter { seesAll || files.contains($0.file) }.map(Wire.Problem.init)
    }
    let shownHeld = shown(held)
    return Wire.ConfigurationState(
      directories: ports.files.directories, sinceMicroseconds: core.configuration.sinceMicroseconds,
      problems: shown(refused), held: shownHeld.isEmpty ? nil : shownHeld)
  }

  private func desktopStates(for peer: Peer, seesAll: Bool) -> [Wire.DesktopSession]? {
    let states = desktops.states(of: seesAll ? nil : peer.uid)
    return states.isEmpty ? nil : states
  }

  private func stuck(for peer: Peer) -> [Wire.StuckRefresh] {
    let stuck = core.engine.stuckRefreshes.filter { _, app in
      core.configuration[app].map { core.access.may(peer, about: $0) } ?? false
    }
    return stuck.sorted { $0.key < $1.key }.map { refresh, app in
      Wire.StuckRefresh(
        app: app.description, refresh: refresh.description, pids: runner.processes(of: refresh).map(Int.init))
    }
  }

  /// The last ping of an app, if it failed.
  func pingProblem(of app: AppID) -> Wire.PingProblem? {
    pings.problem(of: app).map {
      Wire.PingProblem(app: app.description, problem: $0.text, atMicroseconds: core.wall($0.at))
    }
  }

  /// Why refresh-worker is not confined, and what it may write; nil if it is confined everywhere.
  var unconfined: String? {
    let isUserDaemon = ports.settings.isUserDaemon
    if isUserDaemon, linux_landlock_rights() == 0 {
      return "refresh-worker may write all files of the user: a user's units have no view of their own, and the kernel "
        + "has no Landlock"
    }
    if ports.choice.name == "spawn" {
      return "refresh-worker is a child process, which only gives up its privileges"
        + (isUserDaemon ? " and binds itself to its files" : "")
    }
    if isUserDaemon { return nil }
    let folders = transfers.workers.folders.unviewable.sorted()
    guard let first = folders.first else { return nil }
    let more = folders.count > 1 ? " and in \(folders.count - 1) more" : ""
    return "refresh-worker may write all files of the owner in \(first)\(more): systemd could not open that folder"
  }

  private var launcherReason: String {
    let problem = ports.processes.problem.map { [$0] } ?? []
    return ([ports.choice.reason] + problem + ports.processes.overduePaths).joined(separator: "; ")
  }
}

// The questions of monitoring.

extension Daemon {
  /// Tells anyone the daemon's version.
  func version(_ call: Call<ManagerInterface.Version.Parameters>) {
    call.reply(ManagerInterface.Version.Reply(version: refreshdVersion, start: Int(core.engine.start)))
  }

  /// Gives all metrics as OpenMetrics text.
  func metrics(_ call: Call<ManagerInterface.Metrics.Parameters>) {
    guard mayAll(call) else { return }
    call.reply(ManagerInterface.Metrics.Reply(text: metricsText(at: core.readClocks())))
  }

  /// Puts the configuration on disk in force, except for apps that were held already, or answers with the mistakes.
  func reload(_ call: Call<ManagerInterface.Reload.Parameters>) {
    guard mayAll(call) else { return }
    reload { problems in
      if problems.isEmpty {
        let held = self.core.configuration.held.map(Wire.Problem.init)
        call.reply(ManagerInterface.Reload.Reply(held: held.isEmpty ? nil : held))
      } else {
        call.fail(ManagerInterface.BadConfiguration(problems: problems.map(Wire.Problem.init)))
      }
    }
  }

  /// Answers with every mistake in the configuration on disk, and changes nothing.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard mayAll(call) else { return }
    files.problems { problems in
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}

extension Daemon {
  /// All counters and measurements, as OpenMetrics text.
  func metricsText(at now: Instant) -> String {
    var text = OpenMetricsText()
    let created = core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset)
    addDaemon(to: &text, created: created)
    core.tally.addRefreshes(to: &text, created: created)
    addState(to: &text, at: now)
    addTransfers(to: &text, created: created)
    core.tally.addPushes(to: &text, created: created)
    core.tally.addStore(to: &text, created: created)
    addApps(to: &text)
    return text.text
  }

  private func addDaemon(to text: inout OpenMetricsText, created: Int64) {
    text.begin("refreshd_build_info", .gauge, "The version of the daemon, as a label.")
    text.add("", [("version", refreshdVersion)], count: 1)
    text.begin("refreshd_starts", .counter, "How often the daemon has started on its store, since there is one.")
    text.add("_total", count: Int(core.engine.start))
    text.begin("refreshd_start_timestamp_seconds", .gauge, unit: "seconds", "When the daemon started.")
    text.add(microseconds: created)
    text.begin("refreshd_wakes", .counter, "How often its timer has woken the daemon, since its start.")
    text.add("_total", count: core.tally.wakes)
    text.add("_created", microseconds: created)
  }

  private func addState(to text: inout OpenMetricsText, at now: Instant) {
    text.begin("refreshd_running_refreshes", .gauge, "The refreshes that are running.")
    text.add(count: core.engine.refreshingCount)
    text.begin("refreshd_apps", .gauge, "The apps by phase.")
    let phases = Dictionary(grouping: core.configuration.apps.lazy.compactMap { self.core.engine.phase(of: $0.id) }) {
      $0
    }
    for phase in Phase.allCases { text.add("", [("phase", phase.rawValue)], count: phases[phase]?.count ?? 0) }
    text.begin("refreshd_held_apps", .gauge, "The apps that are held, by hold; one with two holds counts for both.")
    let held = core.engine.heldCounts(at: now)
    for hold in Hold.Name.allCases where hold != .notConfigured {
      text.add("", [("hold", hold.rawValue)], count: held[hold] ?? 0)
    }
  }

  private func addTransfers(to text: inout OpenMetricsText, created: Int64) {
    let counts = core.engine.transferCounts
    text.begin("refreshd_running_transfers", .gauge, "The transfers that a worker has.")
    text.add(count: counts.running)
    text.begin("refreshd_waiting_transfers", .gauge, "The transfers that wait or are paused.")
    text.add(count: counts.waiting)
    text.begin("refreshd_transfers", .counter, "The transfers that have ended, since the daemon's start.")
    for result in TransferResult.allCases {
      text.add("_total", [("result", result.rawValue)], count: core.tally.transfers[result] ?? 0)
      text.add("_created", [("result", result.rawValue)], microseconds: created)
    }
    text.begin(
      "refreshd_transferred_bytes", .counter, unit: "bytes",
      "The bytes of files that transfers have moved, since the daemon's start.")
    text.add("_total", count: Int(core.tally.moved))
    text.add("_created", microseconds: created)
  }

  // Without `_created`, the same time for each app: a fleet's text is long enough.
  private func addApps(to text: inout OpenMetricsText) {
    let name = "refreshd_app_fresh_timestamp_seconds"
    text.begin(name, .gauge, unit: "seconds", "When the last refresh of the app started that did not fail.")
    for app in core.configuration.apps {
      guard let fresh = core.engine.state(of: app.id)?.freshAt else { continue }
      text.add("", [("app", app.id.description)], microseconds: fresh.wallMicroseconds(at: core.engine.wallOffset))
    }
    text.begin(
      "refreshd_app_refreshes", .counter, "The refreshes of the app that have ended, since the daemon's start.")
    for app in core.configuration.apps {
      text.add("_total", [("app", app.id.description)], count: core.tally.refreshesOfApp[app.id] ?? 0)
    }
  }
}

/// The state of some apps together, for the status; gathered app by app, because there may be thousands.
struct StatusScope {
  /// How many apps there are.
  private(set) var apps = 0
  /// How many of them a refresh keeps, those whose processes no signal ends included.
  private(set) var refreshing = 0
  /// How many pushes wait.
  private(set) var pushesWaiting = 0
  private(set) var guards: [Wire.Guard] = []
  private(set) var unwatched: [Wire.WatchedFolder] = []
  /// The last pings that failed, and the apps that need attention; not more than are shown.
  private(set) var pings: [Wire.PingProblem] = []
  private(set) var troubled: [Wire.TroubledApp] = []
  private var holds: [Hold.Name: Int] = [:]
  private var first: Candidate?

  private typealias Candidate = (isHeld: Bool, at: Instant, app: AppID, prospect: Prospect)

  /// The most failed pings, and the most apps that need attention, to show.
  private static let mostShown = 100

  mutating func add(_ app: AppConfiguration, _ daemon: Daemon, at now: Instant, _ nights: inout NightsAhead) {
    let engine = daemon.core.engine
    let outlook = engine.outlook(of: app.id, at: now, &nights)
    apps += 1
    pushesWaiting += engine.waitingPushes(of: app.id, at: now).count
    unwatched += daemon.changes.states(of: app).filter { $0.state.problem != nil }.map(Wire.WatchedFolder.init)
    if pings.count < Self.mostShown, let ping = daemon.pingProblem(of: app.id) { pings.append(ping) }
    if troubled.count < Self.mostShown, let trouble = engine.trouble(of: app.id, at: now) {
      troubled.append(Wire.TroubledApp(trouble, app.id, engine))
    }
    if let state = engine.guardState(of: app.id) {
      guards.append(
        Wire.Guard(
          app: app.id.description, guarded: Wire.Guarded(state), holds: outlook.verdict.holds.map(\.name.rawValue)))
    }
    if case .refreshing = outlook.verdict { refreshing += 1 }
    for hold in outlook.verdict.holds { holds[hold.name, default: 0] += 1 }
    if let prospect = outlook.prospect { note(prospect, of: app.id) }
  }

  /// Remembers the app that starts first or, if no start is known, is due first.
  private mutating func note(_ prospect: Prospect, of app: AppID) {
    guard let at = prospect.start?.earliest ?? prospect.due?.earliest else { return }
    let other = (isHeld: prospect.start == nil, at: at, app: app, prospect: prospect)
    let isSooner = first.map { other.isHeld == $0.isHeld ? other.at < $0.at : !other.isHeld } ?? true
    if isSooner { first = other }
  }

  /// How many of the apps each hold keeps; nil if none is held.
  var held: [Wire.HeldCount]? {
    let held = holds.sorted { $0.key.rawValue < $1.key.rawValue }
    return held.isEmpty ? nil : held.map { Wire.HeldCount(hold: $0.key.rawValue, apps: $0.value) }
  }

  /// The refresh that starts next or, if no start is known, is due next.
  func next(wallOffset: Duration) -> Wire.NextRefresh? {
    let wall = { (instant: Instant) in instant.wallMicroseconds(at: wallOffset) }
    return first.map { first in
      Wire.NextRefresh(
        app: first.app.description, dueMicroseconds: wall(first.prospect.due?.earliest ?? first.at),
        startMicroseconds: (first.prospect.start?.earliest).map(wall),
        holds: first.prospect.holds.isEmpty ? nil : first.prospect.holds.map(\.name.rawValue))
    }
  }
}

extension Wire.TroubledApp {
  fileprivate init(_ trouble: Trouble, _ app: AppID, _ engine: Engine) {
    let (kind, instant): (Wire.Trouble, Instant?) =
      switch trouble {
      case .failing: (.failing, nil)
      case .resting(let until): (.resting, until)
      case .neverWorked(let since): (.neverWorked, since)
      case .late(let since): (.late, since)
      }
    self.init(
      app: app.description, trouble: kind, failures: engine.state(of: app)?.streak.map { Int($0.count) },
      atMicroseconds: instant?.wallMicroseconds(at: engine.wallOffset))
  }
}
