import Glibc
import RefreshEngine
import Systemd

/// What a service manager has said of a task's unit.
struct UnitState: Hashable {
  /// How the main process ended (`ExecMainCode`, of waitid(2)'s `si_code`).
  enum MainEnd: Hashable {
    case exited(Int32)
    case signalled(Int32)
  }

  /// As `ActiveState` has it; empty before it was told.
  private(set) var activeState = ""
  /// Whether something is yet to be done to it: it is being started or stopped.
  private(set) var hasJob = true
  /// Whether its program has run: only then `activating` came to an end well.
  private(set) var hasBeenActive = false
  /// How its main process ended; nil while it runs, and for one that never did.
  private(set) var mainEnd: MainEnd?
  /// How long its main process ran; nil before its end.
  private(set) var duration: Duration?
  /// As `Result` has it.
  private(set) var result = "success"

  init() {}

  /// Takes properties of the unit, or of the service that it is.
  mutating func take(_ properties: [String: BusValue]) {
    if let state = properties["ActiveState"]?.text { take(activeState: state) }
    if let job = properties["Job"]?.elements?.first?.integer { hasJob = job != 0 }
    if let entered = properties["ActiveEnterTimestampMonotonic"]?.integer, entered > 0 { hasBeenActive = true }
    if let result = properties["Result"]?.text { self.result = result }
    let status = Int32(truncatingIfNeeded: properties["ExecMainStatus"]?.integer ?? 0)
    switch properties["ExecMainCode"]?.integer {
    case 1: mainEnd = .exited(status)
    case 2, 3: mainEnd = .signalled(status)
    default: break
    }
    let begin = properties["ExecMainStartTimestampMonotonic"]?.integer
    let end = properties["ExecMainExitTimestampMonotonic"]?.integer
    if let begin, let end, 0 < begin, begin <= end { duration = .microseconds(end - begin) }
  }

  /// Takes what the manager's list says.
  mutating func take(_ listed: ListedUnit) {
    take(activeState: listed.activeState)
    // It is not being made any more, so that signals reach it.
    if listed.activeState == "deactivating" { hasBeenActive = true }
    hasJob = listed.hasJob
  }

  private mutating func take(activeState state: String) {
    activeState = state
    if state == "active" { hasBeenActive = true }
  }

  /// Whether its main process is gone and no other comes.
  var isOver: Bool { mainEnd != nil || activeState == "failed" || activeState == "inactive" && !hasJob }

  /// Whether the manager will do nothing more with it by itself.
  ///
  /// So it is with one that never came to be.
  var isSettled: Bool { activeState != "activating" && activeState != "deactivating" }

  /// How the task ended, once it is over.
  func exit(of task: SystemdTask) -> TaskEnd.Exit {
    switch (result, mainEnd) {
    case ("timeout", .some) where hasBeenActive: .timedOut
    case ("oom-kill", _): .outOfMemory
    case (_, .exited(let status)): hasBeenActive ? .exited(status) : exitOfShortLife(task, status)
    case (_, .signalled(let signal)): .signalled(signal)
    case ("resources", nil):
      .notStarted(
        "cannot start \(task.program): the service manager cannot set it up; journalctl -u \(task.unit) says why")
    case (let result, nil):
      .notStarted("cannot start \(task.program): the service manager gave its start up (\(result))")
    }
  }

  /// A main process that was gone before the manager knew whether its program ran.
  private func exitOfShortLife(_ task: SystemdTask, _ status: Int32) -> TaskEnd.Exit {
    task.sentence(forStatus: status).map { .notStarted($0) } ?? .exited(status)
  }
}
