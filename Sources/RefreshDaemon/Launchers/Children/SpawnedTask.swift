import RefreshEngine
import Systemd

/// A task of ``SpawnLauncher``, from the request to start it to the report of its end.
///
/// ```
/// fingerprinting -> starting -> running -> clearing -> comparing -> (ended)
/// fingerprinting, starting -> failing -> (ended)
/// ```
final class SpawnedTask {
  enum State {
    /// The fingerprint of the watched path is taken before the start.
    case fingerprinting
    /// A thread starts the main process.
    case starting(ProcessStart)
    /// The main process runs.
    case running(ChildProcess, IOSource)
    /// The main process has ended; the remaining processes are being killed.
    case clearing
    /// No process is left; the fingerprint of the watched path is taken again before the end is reported.
    case comparing(TaskEnd)
    /// The task cannot start; the loop's next turn reports it.
    case failing(TaskEnd.Exit)
  }

  let launch: TaskLaunch
  var state = State.fingerprinting
  /// The path whose change means new data, if there is one.
  var changedPath: ChangedPath?
  /// Whether it was asked to end while it started.
  var isAskedToEnd = false
  /// Why the start was given up, of a task whose process was killed.
  var failedStart: TaskEnd.Exit?
  /// The output of the task, from its start on.
  var output: TaskOutput?

  init(_ launch: TaskLaunch) {
    self.launch = launch
    changedPath = launch.changedPath.map { ChangedPath($0, timeLimit: launch.timeLimit) }
  }
}
