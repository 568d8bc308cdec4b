import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

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

/// The one who sees a view: a person or an app.
///
/// An app learns which of its constraints are met, but no network interface, no Wi-Fi network and no level: with these it
/// could find out where its user is.
enum Viewer: CaseIterable {
  /// A person, or a program that acts for one.
  case person
  /// A task or a sandboxed app.
  case app

  /// Makes it from the origin of a caller's process.
  init(_ peer: Peer) { self = peer.confinement == .none ? .person : .app }

  /// The result of a task without the condition that stopped it.
  func seen(_ task: TaskRecord) -> TaskRecord {
    guard self == .app, task.lostConstraint != nil else { return task }
    var task = task
    task.message = ""
    return task
  }

  /// The constraints without what the app's file names: networks, servers, folders, devices and commands.
  func seen(_ constraints: Constraints) -> Constraints {
    guard self == .app else { return constraints }
    var constraints = constraints
    (constraints.ssids, constraints.deniedSSIDs) = ([], [])
    for name in [\Constraints.mounted, \.present, \.reachable, \.when] where constraints[keyPath: name] != nil {
      constraints[keyPath: name] = "…"
    }
    return constraints
  }

  /// A condition of the machine, or whether it meets a constraint; nothing for an app without such a constraint.
  func seen(_ condition: Wire.Condition, isMet: Bool? = nil) -> Wire.Condition {
    guard self == .app else { return condition }
    return Wire.Condition(value: isMet.map { $0 ? "met" : "not met" }, source: "")
  }
}
