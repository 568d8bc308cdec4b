import RefreshConfig
import RefreshEngine

@testable import RefreshDaemon

/// A user who logs in and out, as the login service tells of it late, and the promise to that user.
final class SimulatedSessions {
  /// A user whom this machine need not have.
  static let user: UInt32 = 1000
  /// The user's app, which nobody but the daemon starts.
  static let app = AppID("org.example.visitor")
  static let file = """
    id = "org.example.visitor"
    foreground_interval = "10m"
    background_interval = "30m"
    deadline = "20s"
    grace = "2s"
    [[task]]
    run = ["true"]

    """

  private unowned let world: SimulatedWorld
  /// The configuration of the app, which never changes.
  fileprivate var configuration: AppConfiguration?
  private var isPresent = true
  /// Whether the user's programs go on without a session.
  private var lingers = false
  /// Since when the daemon knows that the user is gone, and is to log the app out.
  private var gone: (at: Int64, excused: Int64)?

  /// How long the question may take whether the user lingers.
  private static let patience: Int64 = 30_000_000

  init(_ world: SimulatedWorld) { self.world = world }

  /// The user logs out, or in again.
  func change() {
    isPresent.toggle()
    lingers = !isPresent && world.fate.happens(30)
    report()
  }

  func heal() { (isPresent, lingers) = (true, false) }

  /// Tells the daemon who has a session.
  func report() {
    guard let life = world.life, life.isAlive else { return }
    world.note("the user is \(isPresent ? "there" : lingers ? "gone, and lingers" : "gone")")
    gone = isPresent || lingers ? nil : gone ?? (world.now, world.excused)
    life.machine.onSessions(isPresent ? [Self.user] : [])
  }

  func ask(_ answer: @escaping (Bool) -> Void) {
    let late = world.fate.happens(20) ? Duration.seconds(20) : .seconds(1)
    world.later(world.fate.duration(.milliseconds(1)...late)) { [unowned self] in answer(lingers) }
  }

  /// The daemon is gone: the next one hears anew who has a session.
  func lost() { gone = nil }

  /// A refresh starts its first task.
  func began(_ launch: TaskLaunch) {
    guard launch.app == Self.app, let gone,
      let started = world.life?.daemon.core.engine.state(of: launch.app)?.running, started.id == launch.key.refresh
    else { return }
    let late = started.at.microseconds + world.bootedAt - gone.at - (world.excused - gone.excused)
    if late > Self.patience { world.book.fail(.absentUserRests, "\(launch.key) starts, and its user is gone") }
  }

  /// Checks that the app of a user who is gone is not refreshed.
  func check(_ process: SimulatedProcess) {
    guard process.app == Self.app, process.termAt == nil, let gone else { return }
    if world.book.late(since: gone.at, gone.excused) > Self.patience + 5_000_000 {
      world.book.fail(.absentUserRests, "\(process.key) goes on, and its user is gone")
    }
  }

  /// Checks the end, when the user is there again.
  func finish(_ engine: Engine) {
    guard let app = Self.app, let fresh = engine.state(of: app)?.freshAt, fresh + .hours(9) > world.instant else {
      return world.book.fail(.everythingDueIsDone, "the user's app is stale at the end")
    }
  }
}

extension SimulatedSessions {
  /// Loads the configuration, in which the one app belongs to the user.
  func load(
    _ settings: DaemonSettings,
    by load: (ConfigurationSources, Reader) throws(ConfigurationError) -> Configuration
  ) throws(ConfigurationError) -> Configuration {
    var whole = try load(settings.sources, settings.reader)
    if configuration == nil {
      configuration = try load(settings.sources, Reader(uid: Self.user)).apps.first { $0.id == Self.app }
    }
    for index in whole.apps.indices where whole.apps[index].id == Self.app {
      if let configuration { whole.apps[index] = configuration }
    }
    return whole
  }
}
