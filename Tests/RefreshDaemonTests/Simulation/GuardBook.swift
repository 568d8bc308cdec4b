import RefreshEngine

@testable import RefreshDaemon

/// The promise about the unit of a guard: it does not run while anything holds its app, and it runs otherwise.
final class GuardBook {
  private unowned let world: SimulatedWorld
  /// The network as the daemon knows it; nil while it does not.
  var network: Network?
  private var isHeld: Bool?
  /// Since when the unit is to be as the app's holds say.
  private var since: (at: Int64, excused: Int64) = (0, 0)
  private var nextCheck: Int64 = 0

  /// The conditions must last for 5 min at most before the unit returns; a failed keeper waits as long.
  private static let patience: Int64 = 720_000_000

  init(_ world: SimulatedWorld) { self.world = world }

  func lost() {
    network = nil
    hasTrouble()
  }

  /// Something has happened that the daemon needs time to get over.
  func hasTrouble() { since = (world.now, world.excused) }

  /// Whether something holds the guard's app; nil while nobody knows.
  private func holds(_ engine: Engine) -> Bool? {
    guard let app = SimulatedKeepers.app, let state = engine.state(of: app) else { return nil }
    if case .until(let end)? = engine.device.pause, end > world.instant { return true }
    if state.isDisabled { return true }
    return network.map { $0.reach == .offline }
  }

  func check(_ daemon: Daemon) {
    let held = holds(daemon.core.engine)
    // A keeper starts once that is saved.
    let isUnsaved = world.disk.weather == .slow || daemon.saving.problem?.code == .unanswered
    if held != isHeld || isUnsaved || world.isAsleep || daemon.core.engine.isStopping {
      isHeld = held
      return hasTrouble()
    }
    guard world.now >= nextCheck else { return }
    nextCheck = world.now + 60_000_000
    if let held, held == world.keepers.isRunning, world.book.late(since: since.at, since.excused) > Self.patience {
      world.book.fail(.guardHolds, "the unit \(held ? "runs while its app is held" : "is not returned")")
    }
  }

  /// Checks the end, when nothing holds the app any more.
  func finish() {
    if !world.keepers.isRunning { world.book.fail(.guardHolds, "the unit is not returned at the end") }
  }
}
