import RefreshEngine
import Systemd

/// A task from the start that was asked for to the end that is reported.
///
/// ```
/// looking -> running -> clearing -> lookingAgain -> (ended)
/// looking -> failing -> (ended)
/// ```
final class RunningTask {
  enum State {
    /// The path whose change counts is looked at, before anything runs.
    case looking
    /// Its main process runs.
    case running(ChildProcess, IOSource)
    /// Its main process has ended; what it left is being killed.
    case clearing
    /// Nothing of it is left; the path is looked at again, then this is how it ended.
    case lookingAgain(TaskEnd)
    /// It cannot start, which is reported when the loop turns.
    case failing(String)
  }

  let launch: TaskLaunch
  var state = State.looking
  /// What was at the path before the start.
  var before: Fingerprint?
  /// What it prints, from its start on.
  var output: TaskOutput?

  init(_ launch: TaskLaunch) {
    self.launch = launch
  }
}
