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

  var onOutput: (TaskKey, String) -> Void = { _, _ in }
  var onEnd: (TaskKey, TaskEnd) -> Void = { _, _ in }

  private let loop: EventLoop
  private let socket: String
  private let spawner: Spawner
  private let trees: any ProcessTrees
  private let fingerprints: FingerprintReader
  private let meters = OutputMeters()
  private var tasks: [TaskKey: SpawnedTask] = [:]
  /// The tasks of a previous daemon whose processes no signal ends.
  private var lingering: [TaskKey: LingeringProcesses] = [:]
  private var failedStarts: FailedStarts?
  /// The units of a previous daemon with a service manager.
  private let left: LeftUnits?

  /// Makes the launcher; `socket` is the value of `REFRESH_SOCKET` of its tasks.
  ///
  /// Call this on the loop's thread, which must be the main thread. Moves the process into a leaf of its cgroup if that
  /// is delegated, else makes the process the reaper of its orphans. Throws when neither is possible.
  convenience init(on loop: EventLoop, socket: String, left: LeftUnits? = nil) throws {
    let trees: any ProcessTrees =
      if let directory = Cgroup.delegated() {
        try CgroupTrees(on: loop, directory: directory)
      } else {
        try SubreaperTrees(on: loop, socket: socket)
      }
    try self.init(on: loop, socket: socket, trees: trees, left: left)
  }

  init(on loop: EventLoop, socket: String, trees: any ProcessTrees, left: LeftUnits? = nil) throws {
    self.loop = loop
    self.socket = socket
    self.trees = trees
    self.left = left
    spawner = try Spawner(on: loop)
    fingerprints = try FingerprintReader(on: loop)
    failedStarts = try FailedStarts(on: loop) { [unowned self] in reportFailure(of: $0) }
  }

  // MARK: Launcher

  func start(_ launch: TaskLaunch) {
    let task = SpawnedTask(launch)
    tasks[launch.key] = task
    guard launch.sandbox == AppSandbox() else {
      return fail(
        task,
        StartError(
          sentence: "cannot start \(launch.command.arguments[0]): only a service manager can confine it as its app's "
            + "file asks; `refreshctl status` says why none does, or remove sandbox and memory_max"))
    }
    guard let changed = task.changedPath else { return run(task) }
    fingerprints.look(at: changed.path, as: launch.owner, within: changed.boundBefore) { [unowned self] look in
      guard case .fingerprinting = task.state else { return }
      task.changedPath?.before = look
      run(task)
    }
  }

  func warn(_ key: TaskKey) {
    guard case .running(let process, _) = tasks[key]?.state else { return }
    _ = linux_pidfd_send_signal(process.descriptor, SIGURG)
  }

  func terminate(_ key: TaskKey) { end(key, by: SIGTERM) }

  func kill(_ key: TaskKey) { end(key, by: SIGKILL) }

  func processes(of key: TaskKey) -> [Int32] {
    switch tasks[key]?.state {
    case .running(let process, _): Array(Set(trees.processes(of: key) + [process.id])).sorted()
    case .starting(let start): start.startingProcess.map { [$0] } ?? []
    case .clearing: trees.processes(of: key)
    case nil: lingering[key]?.ids ?? []
    case .fingerprinting, .comparing, .failing: []
    }
  }

  func clean(leftFrom refreshes: Set<RefreshID>) {
    let bound = WaitBound(Self.cleanBound)
    trees.clean(until: bound)
    let left = LeftProcesses(socket: socket, refreshes: refreshes).kill(until: bound)
    for descriptor in left.values { close(descriptor) }
    self.left?.endAll()
  }

  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [TaskKey: FoundTask] {
    // The service manager kept these for a daemon with units; the configuration has changed since.
    for descriptor in stored {
      close(descriptor.descriptor)
      Notify.unstore(descriptor.name)
    }
    let refreshes = LeftProcesses(socket: socket, refreshes: Set(left.map(\.key.refresh)))
    let processes = refreshes.kill(until: WaitBound(Self.cleanBound))
    var found: [TaskKey: FoundTask] = [:]
    for (refresh, processes) in Dictionary(grouping: processes, by: { refreshes.refresh(of: $0.key) }) {
      let key = left.map(\.key).filter { $0.refresh == refresh }.min { $0.task < $1.task }
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
  private func linger(_ processes: [pid_t: Int32], of key: TaskKey) -> Bool {
    do throws(SystemdError) {
      lingering[key] = try LingeringProcesses(processes, on: loop) { [unowned self] in
        lingering[key] = nil
        onEnd(key, TaskEnd(exit: .signalled(SIGKILL)))
      }
      return true
    } catch {
      return false
    }
  }

  var problem: String? { nil }

  func app(of key: TaskKey) -> AppID? { tasks[key]?.launch.app }

  var cgroups: [String] { tasks.keys.compactMap(trees.cgroup) }

  var overduePaths: [String] { fingerprints.overdue }

  func keep(_ completion: TaskCompletion, of key: TaskKey) {}

  func release(_ refresh: RefreshID) {}

  func findSurvivors(answer: @escaping (Set<RefreshID>) -> Void) { answer([]) }

  func forget(_ apps: Set<AppID>) {}

  // MARK: Start

  private func run(_ task: SpawnedTask) {
    let key = task.launch.key
    do throws(StartError) {
      let cgroup = try trees.prepare(key, environment: task.launch.environment)
      do throws(StartError) {
        let start = try spawner.spawn(task.launch, cgroup: cgroup) { [unowned self] in started(task, $0) }
        task.state = .starting(start)
      } catch {
        if let cgroup { close(cgroup) }
        throw error
      }
    } catch {
      startFailed(task, error)
    }
  }

  private func started(_ task: SpawnedTask, _ outcome: Result<ChildProcess, StartError>) {
    guard case .starting(let start) = task.state else { return }
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
      startFailed(task, error)
    }
  }

  private func startFailed(_ task: SpawnedTask, _ error: StartError) {
    trees.clear(task.launch.key) { _ in }
    fail(task, error)
  }

  private func watch(_ process: ChildProcess, of task: SpawnedTask) throws(StartError) {
    let key = task.launch.key
    do throws(SystemdError) {
      let meter = meters.meter(of: task.launch.app, at: EventLoop.bootMicroseconds())
      task.output = try TaskOutput(process.output, on: loop, meter: meter) { [unowned self] in onOutput(key, $0) }
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

  private func fail(_ task: SpawnedTask, _ error: StartError) {
    task.state = .failing(error.exit)
    failedStarts?.add(task.launch.key)
  }

  private func reportFailure(of key: TaskKey) {
    guard case .failing(let exit) = tasks[key]?.state else { return }
    report(key, TaskEnd(exit: exit))
  }

  // MARK: End

  private func end(_ key: TaskKey, by signal: Int32) {
    guard let task = tasks[key] else { return }
    switch task.state {
    case .fingerprinting:
      fail(
        task,
        StartError(
          sentence: "cannot start \(task.launch.command.arguments[0]): it was stopped while its path was examined"))
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
    case .comparing(let end) where signal == SIGKILL:
      // A silent disk must not delay the end.
      report(key, end)
    case .clearing, .comparing, .failing:
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
    var end = TaskEnd(
      exit: task.failedStart ?? Self.exit(ofStatus: status),
      printed: task.output?.hasPrinted ?? false,
      cpu: Duration(usage) + processorTime, message: task.output?.message ?? "")
    task.output = nil

    let key = task.launch.key
    guard let changed = task.changedPath else { return report(key, end) }
    var unknown = end
    changed.leaveOpen(&unknown, "it did not answer in time")
    task.state = .comparing(unknown)
    fingerprints.look(at: changed.path, as: task.launch.owner, within: changed.boundAfter) { [unowned self] look in
      guard case .comparing = task.state, tasks[key] === task else { return }
      changed.judge(&end, after: look)
      report(key, end)
    }
  }

  private func report(_ key: TaskKey, _ end: TaskEnd) {
    tasks[key] = nil
    onEnd(key, end)
  }

  /// Decodes the status of wait(2), because Swift does not import the macros.
  private static func exit(ofStatus status: Int32) -> TaskEnd.Exit {
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }
}
