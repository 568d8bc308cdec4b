import RefreshEngine
import Systemd

/// A task in a unit of its own, from the start that was asked for, or that was found, to its release.
///
/// ```
/// looking -> awaitingBus <-> starting -> running -> clearing -> counting -> lookingAgain -> told
/// running <- (found by the next daemon)
/// looking, awaitingBus, starting -> failing -> told
/// ```
final class SystemdTask {
  enum State {
    /// The path whose change counts is looked at, before anything runs.
    case looking
    /// It is started as soon as a service manager can be asked, and it is its turn, unless it is found to have been.
    case awaitingBus
    /// The service manager was asked to start it.
    case starting
    /// Its unit is there.
    case running
    /// Its main process has ended; what it left is being killed.
    case clearing(IOSource?)
    /// Nothing of it is left; what it took is being asked for.
    case counting
    /// The path is looked at again, then this is how it ended.
    case lookingAgain(TaskEnd)
    /// It cannot start, which is reported when the loop turns.
    case failing(String)
    /// Its end was told; its unit stays until it is released.
    case told
  }

  let key: TaskKey
  let app: AppID
  /// The name of its unit.
  let unit: String
  /// The object of its unit on the bus.
  let path: String
  let file: TaskFile
  /// What its sentences call it.
  let program: String
  let directory: String
  let user: String
  /// The path whose change is new data, if one is.
  let changedPath: String?
  /// How to start it; nil for one that was found running.
  let launch: TaskLaunch?

  var state = State.looking
  var known = UnitState()
  /// The strongest signal that was asked for to end it, to be sent again when the bus was away.
  var asked: Int32?
  /// What the service manager is asked, or is to be asked, for it: one thing after the other.
  var call: CallQueue.Place?
  /// Whether the manager keeps its unit for us, on the connection that there is.
  var isReferenced = false
  /// What was at the path before the start.
  var before: Fingerprint?
  /// Whether it printed something that another daemon read.
  var hadPrinted = false
  var output: TaskOutput?
  /// What it took, as far as the answers are there.
  var processorTime: Duration = .zero
  var bytes: Int64?
  /// Whether its unit is to be forgotten as soon as the manager is done with it.
  var isReleased = false

  /// A task that a daemon before this one left, unless there is a launch.
  init(_ task: LeftTask, launch: TaskLaunch? = nil, units: UnitNames, files: String) {
    key = task.key
    app = task.app
    unit = units.unit(of: task.key)
    path = BusPath.encoded(unit, below: ServiceManager.unitPath) ?? ServiceManager.unitPath
    file = TaskFile(of: unit, in: files)
    program = task.command.arguments.first ?? "an empty command"
    directory = task.command.directory ?? task.owner.home
    user = task.owner.name
    changedPath = task.changedPath
    self.launch = launch
  }

  /// A task that is to be started.
  convenience init(_ launch: TaskLaunch, units: UnitNames, files: String) {
    let task = LeftTask(
      key: launch.key, app: launch.app, command: launch.command, owner: launch.owner, changedPath: launch.changedPath)
    self.init(task, launch: launch, units: units, files: files)
  }

  /// Whether the service manager has yet to answer.
  var isAsked: Bool { call.map { !$0.isAnswered } ?? false }

  /// Whether its end was told.
  var isTold: Bool { if case .told = state { true } else { false } }

  /// Whether its unit is there for certain.
  var isFindable: Bool {
    switch state {
    case .looking, .awaitingBus, .starting, .failing: false
    case .running, .clearing, .counting, .lookingAgain, .told: true
    }
  }

  /// The properties of its unit that say what it took.
  static let counters = ["CPUUsageNSec", "IPIngressBytes", "IPEgressBytes"]

  /// Takes the value of a counter; of what nobody counts it is the largest number there is.
  func take(_ value: BusValue, of counter: String) {
    guard let number = value.integer.map(Int64.init) else { return }
    if counter == "CPUUsageNSec" { processorTime = .nanoseconds(number) } else { bytes = (bytes ?? 0) &+ number }
  }

  /// The name under which the service manager keeps the reading end of its output.
  var outputName: String { "task-\(key)" }

  /// Why its program did not come to run, if a status says so.
  func sentence(forStatus status: Int32) -> String? {
    guard ExecFailure.statuses.contains(status) else { return nil }
    let failure = ExecFailure(
      program: program, directory: directory, user: user, hasSandbox: launch?.properties.isEmpty == false)
    return failure.sentence(forStatus: status)
  }
}
