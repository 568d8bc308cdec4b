import RefreshConfig
import RefreshEngine
import RefreshStore

@testable import RefreshDaemon

/// A life of the daemon, from its start to its exit or crash.
///
/// A crash comes at a call of a port. The rest of the call stack goes on, but no port does anything for it any more.
final class DaemonLife {
  /// The number of this life, from 1.
  let number: Int
  let scheduler: SimulatedScheduler
  let launcher: SimulatedLauncher
  let machine: SimulatedMachine
  let reactor: SimulatedReactor
  let folders: SimulatedFolders
  let daemon: Daemon
  private(set) var isAlive = true
  /// A fault in what the daemon performs.
  private var wrapped: WrappedDaemon?
  /// How many more calls of ports the daemon makes before it crashes; nil if it does not.
  private var callsLeft: Int?

  init(
    _ number: Int, _ scheduler: SimulatedScheduler, _ launcher: SimulatedLauncher, _ machine: SimulatedMachine,
    _ reactor: SimulatedReactor, _ folders: SimulatedFolders, _ daemon: Daemon
  ) {
    self.number = number
    (self.scheduler, self.launcher, self.machine) = (scheduler, launcher, machine)
    (self.reactor, self.folders, self.daemon) = (reactor, folders, daemon)
  }

  /// Puts a fault between the parts of the daemon and the daemon.
  func wrap(_ make: (any DaemonDelegate) -> WrappedDaemon) {
    let fault = make(daemon)
    (wrapped, daemon.core.daemon) = (fault, fault)
  }

  func crash() { isAlive = false }

  func crash(afterCalls calls: Int?) { callsLeft = calls }

  /// Counts a call of a port, and gives whether the daemon is still there to make it.
  func call() -> Bool {
    guard isAlive else { return false }
    guard let left = callsLeft else { return true }
    callsLeft = left - 1
    if left <= 0 { crash() }
    return isAlive
  }
}
