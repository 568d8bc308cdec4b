import RefreshConfig
import RefreshEngine
import Systemd

/// A part of the daemon that has processes started.
protocol ProcessOwner: AnyObject {
  /// Receives a line that a process printed on standard output or standard error.
  ///
  /// The line has no line break. A line of more than ``OutputLines/lineBound`` bytes comes in pieces.
  func printed(_ line: String, by key: ProcessKey)

  /// Receives the end of a process, also if it could not be started; no process with this key is left.
  func ended(_ key: ProcessKey, _ end: TaskEnd)
}

/// Has the launcher start processes, each for its owner, and looks at the watched path of a task before and after it.
///
/// ```
/// looking -> running -> comparing -> (ended)
/// looking, running -> failing -> (ended)
/// ```
final class Processes {
  private let launcher: any Launcher
  private let running: RunningProcesses

  /// Makes the part; `running` is the owner that the launcher reports to.
  init(_ launcher: any Launcher, _ running: RunningProcesses) { (self.launcher, self.running) = (launcher, running) }

  /// Starts a process, whose output and end go to `owner`.
  ///
  /// Leads to exactly one ``ProcessOwner/ended(_:_:)``, which is not called before this returns. A key may be used again
  /// only after that.
  func start(_ launch: TaskLaunch, for owner: any ProcessOwner) {
    let process = running.add(launch, for: owner)
    guard process.isLooking else { return launcher.start(launch, before: nil) }
    running.lookBefore(process) { [launcher] before in launcher.start(launch, before: before) }
  }

  /// Warns the main process of a task that the deadline is near, by SIGURG.
  func warn(_ key: ProcessKey) { if !running.isLooking(key) { launcher.warn(key) } }

  /// Sends SIGTERM to all processes of a task.
  func terminate(_ key: ProcessKey) { if !running.stopLooking(key) { launcher.terminate(key) } }

  /// Sends SIGKILL to all processes of a task.
  func kill(_ key: ProcessKey) {
    // A silent disk must not delay the end.
    if !running.stopLooking(key), !running.stopComparing(key) { launcher.kill(key) }
  }

  /// Sends all processes of a task the signal of a step in their end.
  func send(_ step: TerminationSequence.Step, to key: ProcessKey) {
    switch step {
    case .terminate: terminate(key)
    case .kill: kill(key)
    case .giveUp: break
    }
  }

  /// Adopts the tasks of a previous daemon that still exist, and returns them; see ``Launcher/adopt(_:stored:)``.
  func adopt(_ left: [LeftTask], stored: [PassedDescriptor], for owner: any ProcessOwner) -> [ProcessKey: FoundTask] {
    let found = launcher.adopt(left, stored: stored)
    for task in left { if let found = found[task.key] { running.add(task, found, for: owner) } }
    return found
  }

  /// Ends the tasks of these runs that a previous daemon left and this one did not adopt.
  func clean(leftFrom runs: Set<RunID>) { launcher.clean(leftFrom: runs) }

  /// Finds the runs that survive the daemon's stop; a task that was not started does not.
  func findSurvivors(answer: @escaping (Set<RunID>) -> Void) {
    launcher.findSurvivors { [running] in answer($0.subtracting(running.unstarted)) }
  }

  /// The paths of `new_data = "changed:PATH"` that do not answer, each in a few words.
  var overduePaths: [String] { running.overduePaths }

  // MARK: - The launcher's own

  /// The reason why tasks cannot be started at present; nil if none is known.
  var problem: String? { launcher.problem }

  /// The directories of the running tasks' cgroups, as far as each has its own.
  var cgroups: [String] { launcher.cgroups }

  /// The app of a task that runs as a child of the daemon; nil if it runs no such task.
  func app(of key: ProcessKey) -> AppID? { launcher.app(of: key) }

  /// The remaining processes of a task, as far as they are known.
  func processes(of key: ProcessKey) -> [Int32] { launcher.processes(of: key) }

  /// Drops the state of apps that are no longer configured.
  func forget(_ apps: Set<AppID>) { launcher.forget(apps) }

  /// Saves the completion of a running task, in case another daemon reports its end.
  func keep(_ completion: TaskCompletion, of key: ProcessKey) { launcher.keep(completion, of: key) }

  /// Deletes the saved state of a run; called when the end of its last task is saved.
  func release(_ run: RunID) { launcher.release(run) }

  /// Finds out why the daemon is asked to stop; answers at once or within seconds.
  func findOccasion(answer: @escaping (StopOccasion) -> Void) { launcher.findOccasion(answer: answer) }

  /// Finds out whether a unit that an earlier keeper kept is still stopped or frozen; see ``Launcher/findLeft(_:answer:)``.
  func findLeft(_ unit: GuardedUnit, answer: @escaping (Bool?) -> Void) { launcher.findLeft(unit, answer: answer) }
}

/// The running processes and their owners: the owner that a launcher reports to.
///
/// Passes on what a process prints, and its end after the second look at its path.
final class RunningProcesses: ProcessOwner {
  /// A process, from the request to start it to the report of its end.
  final class Process {
    enum Stage {
      /// The watched path is looked at before the start.
      case looking
      /// The launcher has the process.
      case running
      /// The process has ended, and the watched path is looked at again before the end is reported.
      case comparing(TaskEnd)
      /// The process was not started; the loop's next turn reports it, so that no end is reported before `start` returns.
      case failing
    }

    fileprivate unowned let owner: any ProcessOwner
    /// The name of the program in sentences.
    fileprivate let program: String
    fileprivate let user: Owner
    /// The path whose change means new data, if there is one.
    fileprivate var changedPath: ChangedPath?
    fileprivate var stage: Stage

    fileprivate init(
      _ owner: any ProcessOwner, _ command: Command, as user: Owner, _ changedPath: ChangedPath?, _ stage: Stage
    ) {
      (self.owner, self.user, self.changedPath, self.stage) = (owner, user, changedPath, stage)
      program = command.arguments.first ?? "an empty command"
    }

    fileprivate var isLooking: Bool { if case .looking = stage { true } else { false } }

    /// Whether it was not started, or not yet.
    fileprivate var isUnstarted: Bool {
      switch stage {
      case .looking, .failing: true
      case .running, .comparing: false
      }
    }
  }

  private let scheduler: any Scheduler
  private let looks: any PathLooks
  private var processes: [ProcessKey: Process] = [:]

  init(_ scheduler: any Scheduler, _ looks: any PathLooks) { (self.scheduler, self.looks) = (scheduler, looks) }

  fileprivate var overduePaths: [String] { looks.overdue }

  /// The runs with a task that was not started, or not yet.
  fileprivate var unstarted: Set<RunID> { Set(processes.filter { $0.value.isUnstarted }.keys.map(\.run)) }

  fileprivate func isLooking(_ key: ProcessKey) -> Bool { processes[key]?.isLooking ?? false }

  /// Adds a process to start.
  fileprivate func add(_ launch: TaskLaunch, for owner: any ProcessOwner) -> Process {
    let deadline = scheduler.now().instant + launch.timeLimit
    let path = launch.changedPath.map { ChangedPath($0, deadline: deadline) }
    let process = Process(owner, launch.command, as: launch.owner, path, path == nil ? .running : .looking)
    processes[launch.key] = process
    return process
  }

  /// Adds a task of a previous daemon.
  fileprivate func add(_ task: LeftTask, _ found: FoundTask, for owner: any ProcessOwner) {
    var path = task.changedPath.map { ChangedPath($0, deadline: nil) }
    path?.before = found.before.map(PathLook.seen)
    processes[task.key] = Process(owner, task.command, as: task.owner, path, .running)
  }

  // MARK: - Before the start

  /// Looks at the path of a process before its start, and calls `start` with the fingerprint unless it was stopped.
  fileprivate func lookBefore(_ process: Process, start: @escaping (Fingerprint?) -> Void) {
    guard let path = process.changedPath else { return }
    looks.look(at: path.path, as: process.user, within: path.boundBefore(at: scheduler.now().instant)) { look in
      guard process.isLooking else { return }
      process.changedPath?.before = look
      process.stage = .running
      start(look.fingerprint)
    }
  }

  /// Ends a process whose path is looked at before its start; false if that is not so.
  fileprivate func stopLooking(_ key: ProcessKey) -> Bool {
    guard let process = processes[key] else { return false }
    switch process.stage {
    case .looking:
      let sentence = "cannot start \(process.program): it was stopped while its path was examined"
      // The sentence is also the message: if the task is stopped for its deadline, the deadline is the cause.
      reportSoon(key, process, TaskEnd(exit: .notStarted(sentence), message: sentence))
      return true
    case .failing: return true
    case .running, .comparing: return false
    }
  }

  // MARK: - Output and end

  func printed(_ line: String, by key: ProcessKey) { processes[key]?.owner.printed(line, by: key) }

  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    guard let process = processes[key], case .running = process.stage else { return }
    guard end.hasRun else { return reportSoon(key, process, end) }
    guard let path = process.changedPath else { return report(key, process, end) }
    guard path.before?.fingerprint != nil else { return report(key, process, path.judged(end, after: nil)) }
    process.stage = .comparing(path.judged(end, after: nil))
    looks.look(at: path.path, as: process.user, within: path.boundAfter(at: scheduler.now().instant)) { [self] look in
      guard case .comparing = process.stage else { return }
      report(key, process, path.judged(end, after: look))
    }
  }

  /// Reports the end of a process whose path is looked at once more; false if that is not so.
  fileprivate func stopComparing(_ key: ProcessKey) -> Bool {
    guard let process = processes[key], case .comparing(let end) = process.stage else { return false }
    report(key, process, end)
    return true
  }

  /// Reports the end of a process that was not started.
  private func reportSoon(_ key: ProcessKey, _ process: Process, _ end: TaskEnd) {
    process.stage = .failing
    scheduler.soon { [self] in report(key, process, end) }
  }

  private func report(_ key: ProcessKey, _ process: Process, _ end: TaskEnd) {
    guard processes[key] === process else { return }
    processes[key] = nil
    process.owner.ended(key, end)
  }
}

extension TaskEnd {
  /// Whether the process was started.
  fileprivate var hasRun: Bool {
    switch exit {
    case .notStarted, .noMeans: false
    case .exited, .signalled, .outOfMemory, .timedOut, .lostClient, .notTaken: true
    }
  }
}
