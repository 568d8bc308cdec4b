@preconcurrency import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// Starts tasks as children of the daemon, without a service manager.
///
/// Each task is a session of its own, which dies with the daemon. A task ends when its main process ends. The launcher
/// then kills the remaining processes and reports the end after the last of them is gone, so that no orphan is ever
/// left.
final class SpawnLauncher: Launcher {
  /// How long the daemon's start waits for the processes of a previous daemon, in seconds.
  private static let cleanBound: Int64 = 5

  private unowned let owner: any ProcessOwner
  private let loop: EventLoop
  private let socket: String
  private let spawner: Spawner
  private let trees: any ProcessTrees
  private let meters = OutputMeters()
  private var tasks: [ProcessKey: SpawnedTask] = [:]
  /// The tasks of a previous daemon whose processes no signal ends.
  private var lingering: [ProcessKey: LingeringProcesses] = [:]
  /// The units of a previous daemon with a service manager.
  private let left: LeftUnits?

  /// Makes the launcher; `socket` is the value of `REFRESH_SOCKET` of its tasks, and `owner` receives what they print and
  /// their ends.
  ///
  /// Call this on the loop's thread, which must be the main thread. Moves the process into a leaf of its cgroup if that
  /// is delegated, else makes the process the reaper of its orphans. Throws when neither is possible.
  convenience init(on loop: EventLoop, socket: String, left: LeftUnits? = nil, for owner: any ProcessOwner) throws {
    let trees: any ProcessTrees =
      if let directory = Cgroup.delegated() {
        try CgroupTrees(on: loop, directory: directory)
      } else {
        try SubreaperTrees(on: loop, socket: socket)
      }
    try self.init(on: loop, socket: socket, trees: trees, left: left, for: owner)
  }

  init(
    on loop: EventLoop, socket: String, trees: any ProcessTrees, left: LeftUnits? = nil, for owner: any ProcessOwner
  ) throws {
    (self.loop, self.owner) = (loop, owner)
    self.socket = socket
    self.trees = trees
    self.left = left
    spawner = try Spawner(on: loop)
  }

  // MARK: Launcher

  func start(_ launch: TaskLaunch, before: Fingerprint?) {
    guard launch.sandbox == AppSandbox() else {
      let sentence =
        "cannot start \(launch.command.arguments[0]): only a service manager can confine it as its app's file asks; "
        + "`refreshctl status` says why none does, or remove sandbox and memory_max"
      return report(launch.key, TaskEnd(exit: .notStarted(sentence)))
    }
    run(launch)
  }

  func warn(_ key: ProcessKey) {
    guard case .running(let process, _) = tasks[key]?.state else { return }
    _ = linux_pidfd_send_signal(process.descriptor, SIGURG)
  }

  func terminate(_ key: ProcessKey) { end(key, by: SIGTERM) }

  func kill(_ key: ProcessKey) { end(key, by: SIGKILL) }

  func processes(of key: ProcessKey) -> [Int32] {
    switch tasks[key]?.state {
    case .running(let process, _): Array(Set(trees.processes(of: key) + [process.id])).sorted()
    case .starting(let start): start.startingProcess.map { [$0] } ?? []
    case .clearing: trees.processes(of: key)
    case nil: lingering[key]?.ids ?? []
    }
  }

  func clean(leftFrom runs: Set<RunID>) {
    let bound = WaitBound(Self.cleanBound)
    trees.clean(until: bound)
    let left = LeftProcesses(socket: socket, runs: runs).kill(until: bound)
    for descriptor in left.values { close(descriptor) }
    self.left?.endAll()
  }

  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [ProcessKey: FoundTask] {
    // The service manager kept these for a daemon with units; the configuration has changed since.
    for descriptor in stored {
      close(descriptor.descriptor)
      Notify.unstore(descriptor.name)
    }
    let leftProcesses = LeftProcesses(socket: socket, runs: Set(left.map(\.key.run)))
    let processes = leftProcesses.kill(until: WaitBound(Self.cleanBound))
    var found: [ProcessKey: FoundTask] = [:]
    for (run, processes) in Dictionary(grouping: processes, by: { leftProcesses.run(of: $0.key) }) {
      let key = left.map(\.key).filter { $0.run == run }.min { $0.task < $1.task }
      guard let key else {
        for (_, descriptor) in processes { close(descriptor) }
        continue
      }
      if linger(Dictionary(uniqueKeysWithValues: processes.map { ($0.key, $0.value) }), of: key) {
        found[key] = FoundTask(token: nil, completion: nil)
      }
    }
    return found
  }

  /// Watches processes that did not end after SIGKILL; they belong to their task until they end.
  private func linger(_ processes: [pid_t: Int32], of key: ProcessKey) -> Bool {
    do throws(SystemdError) {
      lingering[key] = try LingeringProcesses(processes, on: loop) { [unowned self] in
        lingering[key] = nil
        owner.ended(key, TaskEnd(exit: .signalled(SIGKILL)))
      }
      return true
    } catch {
      return false
    }
  }

  var problem: String? { nil }

  func app(of key: ProcessKey) -> AppID? { tasks[key]?.launch.app }

  var cgroups: [String] { tasks.keys.compactMap(trees.cgroup) }

  func keep(_ completion: TaskCompletion, of key: ProcessKey) {}

  func release(_ run: RunID) {}

  func findSurvivors(answer: @escaping (Set<RunID>) -> Void) { answer([]) }

  func forget(_ apps: Set<AppID>) {}

  // MARK: Start

  private func run(_ launch: TaskLaunch) {
    let key = launch.key
    do throws(StartError) {
      let cgroup = try trees.prepare(key, environment: launch.environment)
      do throws(StartError) {
        let start = try spawner.spawn(launch, cgroup: cgroup) { [unowned self] in started(key, $0) }
        tasks[key] = SpawnedTask(launch, .starting(start))
      } catch {
        if let cgroup { close(cgroup) }
        throw error
      }
    } catch {
      startFailed(launch, error)
    }
  }

  private func started(_ key: ProcessKey, _ outcome: Result<ChildProcess, StartError>) {
    guard let task = tasks[key], case .starting(let start) = task.state else { return }
    do throws(StartError) {
      let process = try outcome.get()
      trees.started(task.launch.key, main: process.id)
      try watch(process, of: task)
      guard let error = start.isGivenUp else {
        if task.isAskedToEnd { end(task.launch.key, by: SIGTERM) }
        return
      }
      task.failedStart = error.exit
      trees.send(SIGKILL, to: task.launch.key)
    } catch {
      startFailed(task.launch, error)
    }
  }

  private func startFailed(_ launch: TaskLaunch, _ error: StartError) {
    trees.clear(launch.key) { _ in }
    report(launch.key, TaskEnd(exit: error.exit))
  }

  private func watch(_ process: ChildProcess, of task: SpawnedTask) throws(StartError) {
    let key = task.launch.key
    do throws(SystemdError) {
      let meter = meters.meter(of: task.launch.app, at: EventLoop.bootMicroseconds())
      task.output = try TaskOutput(process.output, of: key, on: loop, meter: meter, for: owner)
      let source = try loop.watch(process.descriptor, for: .readable) { [unowned self] _ in mainEnded(task) }
      task.state = .running(process, source)
    } catch {
      task.output = nil
      _ = linux_pidfd_send_signal(process.descriptor, SIGKILL)
      close(process.descriptor)
      // The process was killed, so this wait is short.
      waitpid(process.id, nil, 0)
      spawner.reaped(process.id)
      throw StartError(sentence: "cannot start \(task.launch.command.arguments[0]): \(error)")
    }
  }

  // MARK: End

  private func end(_ key: ProcessKey, by signal: Int32) {
    guard let task = tasks[key] else { return }
    switch task.state {
    case .starting where signal != SIGKILL:
      // Before its program runs, a process handles no signal: it gets this one as soon as it runs.
      task.isAskedToEnd = true
    case .starting(let start):
      spawner.giveUp(
        start, because: StartError(sentence: "cannot start \(start.program): it was stopped before it ran"))
    case .running:
      trees.send(signal, to: key)
      // A stopped process handles SIGTERM only after SIGCONT.
      if signal == SIGTERM { trees.send(SIGCONT, to: key) }
    case .clearing:
      break
    }
  }

  private func mainEnded(_ task: SpawnedTask) {
    guard case .running(let process, let source) = task.state else { return }
    source.cancel()
    task.state = .clearing
    trees.clear(task.launch.key) { [unowned self] processorTime in
      cleared(task, process: process, processorTime: processorTime)
    }
  }

  private func cleared(_ task: SpawnedTask, process: ChildProcess, processorTime: Duration) {
    close(process.descriptor)
    var status: Int32 = 0
    var usage = rusage()
    wait4(process.id, &status, 0, &usage)
    spawner.reaped(process.id)
    task.output?.drain()
    let end = TaskEnd(
      exit: task.failedStart ?? Self.exit(ofStatus: status),
      printed: task.output?.hasPrinted ?? false,
      cpu: Duration(usage) + processorTime, message: task.output?.message ?? "")
    task.output = nil
    report(task.launch.key, end)
  }

  private func report(_ key: ProcessKey, _ end: TaskEnd) {
    tasks[key] = nil
    owner.ended(key, end)
  }

  /// Decodes the status of wait(2), because Swift does not import the macros.
  private static func exit(ofStatus status: Int32) -> TaskEnd.Exit {
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }
}

/// A task of ``SpawnLauncher``, from the request to start it to the report of its end.
///
/// ```
/// starting -> running -> clearing -> (ended)
/// starting -> (could not start)
/// ```
final class SpawnedTask {
  enum State {
    /// A thread starts the main process.
    case starting(ProcessStart)
    /// The main process runs.
    case running(ChildProcess, IOSource)
    /// The main process has ended; the remaining processes are being killed.
    case clearing
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
