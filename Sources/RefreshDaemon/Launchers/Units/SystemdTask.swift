import RefreshConfig
import RefreshEngine
import Systemd

/// A task in a unit of its own, from its start or adoption to its release.
///
/// ```
/// awaitingBus <-> starting -> running -> clearing -> counting -> reported
/// running <- (adopted by the next daemon)
/// awaitingBus, starting -> (could not start) -> reported
/// ```
final class SystemdTask {
  enum State {
    /// The task waits for the service manager and for its turn, unless its unit turns out to exist.
    case awaitingBus
    /// The service manager was called to start the unit.
    case starting
    /// The unit exists.
    case running
    /// The main process has ended; the remaining processes are being killed.
    case clearing(CgroupWatch?)
    /// No process is left; the accounting of the unit is being read.
    case counting
    /// The end was reported; the unit stays until it is released.
    case reported
  }

  let key: ProcessKey
  let app: AppID
  /// The name of the unit.
  let unit: String
  /// The object path of the unit on the bus.
  let path: String
  let file: TaskFile
  /// The name of the program in sentences.
  let program: String
  let directory: String
  let user: String
  /// The parameters of the start; nil for an adopted task.
  let launch: TaskLaunch?
  /// The fingerprint of the watched path before the start, for the next daemon.
  let before: Fingerprint?

  var state = State.awaitingBus
  var known = UnitState()
  /// The strongest signal that was sent to end the task; sent again if the bus was away.
  var sentSignal: Int32?
  /// The current call to the service manager; there is at most one.
  var call: CallQueue.QueuedCall?
  /// Whether the manager holds our reference to the unit on the current connection.
  var isReferenced = false
  /// Whether the task printed something that a previous daemon read.
  var hadPrinted = false
  var output: TaskOutput?
  /// The processor time and network bytes, as far as the manager has answered.
  var processorTime: Duration = .zero
  var bytes: Int64?
  /// Whether the unit is forgotten as soon as the manager is done with it.
  var isReleased = false

  /// A task that a previous daemon left, unless there is a launch.
  init(_ task: LeftTask, launch: TaskLaunch? = nil, before: Fingerprint? = nil, units: UnitNames, files: String) {
    key = task.key
    app = task.app
    unit = units.unit(of: task.key)
    path = BusPath.encoded(unit, below: ServiceManager.unitPath) ?? ServiceManager.unitPath
    file = TaskFile(of: unit, in: files)
    program = task.command.arguments.first ?? "an empty command"
    directory = task.command.directory ?? task.owner.home
    user = task.owner.name
    (self.launch, self.before) = (launch, before)
  }

  /// A task to start.
  convenience init(_ launch: TaskLaunch, before: Fingerprint?, units: UnitNames, files: String) {
    let task = LeftTask(
      key: launch.key, app: launch.app, command: launch.command, owner: launch.owner, changedPath: launch.changedPath)
    self.init(task, launch: launch, before: before, units: units, files: files)
  }

  /// Whether the service manager has not answered the current call yet.
  var awaitsReply: Bool { call.map { !$0.isAnswered } ?? false }

  /// Whether the end was reported.
  var isReported: Bool { if case .reported = state { true } else { false } }

  /// Whether the unit certainly exists.
  var isFindable: Bool {
    switch state {
    case .awaitingBus, .starting: false
    case .running, .clearing, .counting, .reported: true
    }
  }

  /// The properties of the unit with its accounting.
  static let counters = ["CPUUsageNSec", "IPIngressBytes", "IPEgressBytes"]

  /// Applies the value of a counter; a counter that is off reads as the largest number.
  func apply(_ value: BusValue, of counter: String) {
    guard let number = value.integer.map(Int64.init) else { return }
    if counter == "CPUUsageNSec" { processorTime = .nanoseconds(number) } else { bytes = (bytes ?? 0) &+ number }
  }

  /// Records that the task has printed something, also for the next daemon.
  func notePrinted() {
    guard !hadPrinted else { return }
    hadPrinted = true
    do throws(SystemCallError) {
      try file.notePrinted()
    } catch {
      // Only a later daemon would have needed the note.
      return
    }
  }

  /// The name under which the service manager keeps the reading end of the output.
  var outputName: String { "task-\(key)" }

  /// The reason why the program did not run; nil unless the status is one of the manager's.
  func sentence(forStatus status: Int32) -> String? {
    guard ExecFailure.statuses.contains(status) else { return nil }
    let failure = ExecFailure(
      program: program, directory: directory, user: user, isStrict: launch?.sandbox.level == .strict)
    return failure.sentence(forStatus: status)
  }
}
