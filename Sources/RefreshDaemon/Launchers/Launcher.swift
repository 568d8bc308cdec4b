import RefreshConfig
import RefreshEngine
import Systemd

/// What starts the tasks of refreshes, and ends them.
///
/// Two are behind it: ``SpawnLauncher``, and ``SystemdLauncher``, which makes transient units of a service manager
/// (DESIGN section 3, "Every refresh is a process"). A launcher belongs to the event loop's thread.
///
/// Every ``start(_:)`` is answered by exactly one ``onEnd``, after which no process of the task is left; nothing is
/// ever called back from inside one of these methods, so that the caller's state is whole when it hears.
protocol Launcher: AnyObject {
  /// Hears each line that a task prints on standard output or standard error.
  ///
  /// Without its end; a line of more than ``OutputLines/lineBound`` bytes comes in pieces.
  var onOutput: (TaskKey, String) -> Void { get set }

  /// Hears how a task ended, also when it could not be started at all.
  var onEnd: (TaskKey, TaskEnd) -> Void { get set }

  /// Why tasks cannot be started at present; nil when nothing is known to be in the way.
  var problem: String? { get }

  /// Starts a task; a key is used again only after its end.
  func start(_ launch: TaskLaunch)

  /// Tells a task that its deadline is near: SIGURG to its main process.
  ///
  /// That signal, because it means nothing to a program that does not ask for it (`signal(7)`).
  func warn(_ key: TaskKey)

  /// Asks all processes of a task to end: SIGTERM.
  func terminate(_ key: TaskKey)

  /// Ends all processes of a task: SIGKILL.
  func kill(_ key: TaskKey)

  /// Looks up the groups of users again: a new configuration may be there because they changed.
  func forgetUsers()

  /// Lets go of what is kept for apps that are not configured any more.
  func forget(_ apps: Set<AppID>)

  /// Takes up what is still there of the tasks that a daemon before this one may have left, and says what it found.
  ///
  /// For the daemon's start, before ``clean(leftFrom:)``. Each task that was found, also one that has ended meanwhile, is
  /// answered by one ``onEnd``, as if it had been started here.
  ///
  /// - Parameter stored: what the service manager kept for this start; the launcher's from now on.
  func takeUp(_ left: [LeftTask], stored: [PassedDescriptor]) -> [TaskKey: FoundTask]

  /// Ends what a daemon that died left of these refreshes and was not taken up, and waits for it, a few seconds at most.
  ///
  /// For the daemon's start, before anything else is started: no second copy runs beside an orphan.
  func clean(leftFrom refreshes: Set<RefreshID>)

  /// Keeps what a running task has said of itself, for the case that another daemon tells its end.
  func keep(_ completion: Completion, of key: TaskKey)

  /// Lets go of what was kept of a refresh, or of another command with such an id, for the case of a crash.
  ///
  /// To be called when the end of its last task is saved.
  func release(_ refresh: RefreshID)

  /// Answers which refreshes go on when the daemon stops, because the next daemon finds all of their tasks again.
  ///
  /// At once, or a moment later. None when the machine is being switched off: they are told so in good order.
  func askWhatStays(answer: @escaping (Set<RefreshID>) -> Void)
}

/// The name of one task of one refresh.
struct TaskKey: Hashable, Sendable, CustomStringConvertible {
  /// The refresh.
  let refresh: RefreshID
  /// The task's place in the app's file, from 0.
  let task: Int

  /// As in the name of its cgroup: `12-345-0`.
  var description: String { "\(refresh)-\(task)" }
}

/// All that a launcher must know to start a task.
struct TaskLaunch: Sendable {
  /// The task.
  let key: TaskKey
  /// Its app.
  let app: AppID
  /// What it runs, where, and in which group; the command's own environment is not looked at.
  let command: Command
  /// The user it runs as.
  let owner: Owner
  /// Its whole environment, `NAME=value` each, nothing is added.
  ///
  /// `REFRESH_ID` and `REFRESH_SOCKET` in it are how a process that outlived its task is recognised.
  let environment: [String]
  /// What it is, for who looks at the machine's processes.
  let description: String
  /// How long it may run before it is asked to end, and how long after that before it is killed.
  ///
  /// Bounds in case the daemon is not there to do it.
  let timeLimit: Duration
  let grace: Duration
  /// The exit codes beside 0 that are no failure, for the service manager's own words about the unit.
  var goodExits: [Int32] = []
  /// What its app's file asks for beside all that, for its unit; spawned tasks have no unit.
  var properties: [UnitProperty] = []
  /// What it reads on standard input; nothing is `/dev/null`.
  let input: [UInt8]?
  /// The path whose change is new data (FEATURES B4), looked at before and after.
  let changedPath: String?
}

/// A task that a daemon before this one may have left, as far as this one knows it.
struct LeftTask: Sendable {
  /// The task.
  let key: TaskKey
  /// Its app.
  let app: AppID
  /// What it runs by the configuration in force.
  let command: Command
  /// The user it runs as.
  let owner: Owner
  /// The path whose change is new data, looked at before by the daemon that started it.
  let changedPath: String?
}

/// A task of a daemon before this one that was found again.
struct FoundTask: Hashable, Sendable {
  /// The token that it was given, by which it may complete itself; nil where that is not known any more.
  let token: String?
  /// What it has said of itself to that daemon.
  let completion: Completion?
}
