import RefreshEngine

@testable import RefreshDaemon

/// The changes in watched folders of which the daemon was told, and the promise about them.
final class ChangeBook {
  private unowned let world: SimulatedWorld
  /// When the newest file of each folder was written, wall clock.
  private(set) var newest: [String: Int64] = [:]
  /// When each app was told of the first change that no refresh has come after.
  private var owed: [AppID: Int64] = [:]
  /// The apps that were being refreshed at the last step, and when the others ended.
  private var refreshing: Set<AppID> = []
  private var endedAt: [AppID: Int64] = [:]
  private var nextCheck: Int64 = 0

  init(_ world: SimulatedWorld) { self.world = world }

  func wrote(_ path: String) {
    newest[path] = world.now + world.wallError.inMicroseconds
  }

  /// The daemon is told of changes in folders of apps.
  func told(_ apps: [AppID]) {
    guard let engine = world.life?.daemon.core.engine else { return }
    for app in apps {
      // The last writes of a refresh are its own work.
      let isOwn = engine.state(of: app)?.running != nil || endedAt[app].map { world.now - $0 < 1_100_000 } ?? false
      if !isOwn { owed[app] = owed[app] ?? world.now }
    }
  }

  func check(_ daemon: Daemon) {
    let engine = daemon.core.engine
    for app in world.apps where app.extras.folder != nil {
      if engine.state(of: app.id)?.running != nil {
        refreshing.insert(app.id)
      } else if refreshing.remove(app.id) != nil {
        endedAt[app.id] = world.now
      }
    }
    guard !owed.isEmpty, world.now >= nextCheck else { return }
    nextCheck = world.now + 60_000_000
    settle(engine)
    for app in owed.keys.sorted() where engine.explain(app, at: world.instant)?.change == nil {
      world.book.fail(.changesAreFollowed, "a change of \(app) is forgotten")
    }
  }

  /// Strikes out the changes that a refresh has come after.
  private func settle(_ engine: Engine) {
    owed = owed.filter { app, at in
      guard let start = engine.state(of: app)?.lastStart else { return true }
      return start.microseconds + world.bootedAt < at
    }
  }

  /// The daemon is gone: the next one looks at the folders itself.
  func lost() { (owed, refreshing, endedAt) = ([:], [], [:]) }

  /// Checks the end, when nothing holds any app.
  func finish(_ engine: Engine) {
    settle(engine)
    for (app, at) in owed where world.now - at > Duration.hours(9).inMicroseconds {
      world.book.fail(.changesAreFollowed, "no refresh of \(app) follows its change")
    }
  }
}
