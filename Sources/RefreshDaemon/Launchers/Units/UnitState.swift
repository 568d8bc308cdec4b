import Glibc
import RefreshEngine
import Systemd

/// The state of a task's unit, by the messages of the service manager.
struct UnitState: Hashable {
  /// The value of `ActiveState`; empty before the first message.
  private(set) var activeState = ""
  /// Whether a job is pending: the unit is being started or stopped.
  private(set) var hasJob = true
  /// Whether the program has run, so that `activating` succeeded.
  private(set) var hasBeenActive = false
  /// The end of the main process; nil while it runs, or if it never ran.
  private(set) var mainEnd: MainEnd?
  /// How long the main process ran; nil before its end.
  private(set) var duration: Duration?
  /// The value of `Result`.
  private(set) var result = "success"

  init() {}

  /// Applies properties of the unit or the service.
  mutating func apply(_ properties: [String: BusValue]) {
    if let state = properties["ActiveState"]?.text { apply(activeState: state) }
    if let job = properties["Job"]?.elements?.first?.integer { hasJob = job != 0 }
    if let entered = properties["ActiveEnterTimestampMonotonic"]?.integer, entered > 0 { hasBeenActive = true }
    if let result = properties["Result"]?.text { self.result = result }
    mainEnd = MainEnd(properties) ?? mainEnd
    let begin = properties["ExecMainStartTimestampMonotonic"]?.integer
    let end = properties["ExecMainExitTimestampMonotonic"]?.integer
    if let begin, let end, 0 < begin, begin <= end { duration = .microseconds(end - begin) }
  }

  /// Applies an entry of the manager's list.
  mutating func apply(_ listed: ListedUnit) {
    apply(activeState: listed.activeState)
    // The unit is past its start, so signals reach it.
    if listed.activeState == "deactivating" { hasBeenActive = true }
    hasJob = listed.hasJob
  }

  private mutating func apply(activeState state: String) {
    activeState = state
    if state == "active" { hasBeenActive = true }
  }

  /// Whether the main process is gone and no other follows.
  var isOver: Bool { mainEnd != nil || activeState == "failed" || activeState == "inactive" && !hasJob }

  /// Whether the manager has nothing left to do with the unit.
  ///
  /// This also holds for a unit that was never made.
  var isSettled: Bool { activeState != "activating" && activeState != "deactivating" }

  /// How the task ended, once it is over.
  func exit(of task: SystemdTask) -> TaskEnd.Exit {
    switch (result, mainEnd) {
    case ("timeout", .some) where hasBeenActive: .timedOut
    case ("oom-kill", _): .outOfMemory
    case (_, .exited(let status)): hasBeenActive ? .exited(status) : exitOfShortLife(task, status)
    case (_, .signalled(let signal)): .signalled(signal)
    case ("resources", nil):
      .noMeans(
        "cannot start \(task.program): the service manager cannot set it up; journalctl -u \(task.unit) says why")
    case (let result, nil):
      .notStarted("cannot start \(task.program): the service manager gave up its start (\(result))")
    }
  }

  /// The exit of a main process that ended before the manager knew whether its program ran.
  private func exitOfShortLife(_ task: SystemdTask, _ status: Int32) -> TaskEnd.Exit {
    task.sentence(forStatus: status).map { .notStarted($0) } ?? .exited(status)
  }
}
