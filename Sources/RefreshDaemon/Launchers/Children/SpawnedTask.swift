import RefreshEngine
import Systemd

/// A task of ``SpawnLauncher``, from the request to start it to the report of its end.
///
/// ```
/// starting -> running -> clearing -> (ended)
/// starting -> failing -> (ended)
/// ```
final class SpawnedTask {
  enum State {
    /// A thread starts the main process.
    case starting(ProcessStart)
    /// The main process runs.
    case running(ChildProcess, IOSource)
    /// The main process has ended; the remaining processes are being killed.
    case clearing
    /// The task cannot start; the loop's next turn reports it.
    case failing(TaskEnd.Exit)
  }

  let launch: TaskLaunch
  var state: State
  /// Whether it was asked to end while it started.
  var isAskedToEnd = false
  /// Why the start was given up, of a task whose process was killed.
  var failedStart: TaskEnd.Exit?
  /// The output of the task, from its start on.
  var output: TaskOutput?

  init(_ launch: TaskLaunch, _ state: State) { (self.launch, self.state) = (launch, state) }
}
