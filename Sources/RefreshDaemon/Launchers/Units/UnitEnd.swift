import Glibc
import RefreshEngine
import Systemd

// The end of a task: on request or by itself. The launcher kills the remaining processes, reads the accounting, and
// then reports the end.

extension SystemdLauncher {
  /// Ends the processes of a task by a signal, or the task at once if nothing of it runs.
  func end(_ key: ProcessKey, by signal: Int32) {
    guard let task = tasks[key] else { return }
    switch task.state {
    case .awaitingBus:
      fail(task, "cannot start \(task.program): the service manager could not be reached: \(absence ?? bus.reason)")
    case .starting, .running:
      if task.sentSignal != SIGKILL { task.sentSignal = signal }
      send(signal, to: task)
    case .clearing, .counting, .reported:
      break
    }
  }

  /// Sends a signal to all processes of a task, also if its unit is still being started.
  func send(_ signal: Int32, to task: SystemdTask) {
    bus.send(ServiceManager.kill(task.unit, .all, signal))
    // A stopped process handles SIGTERM only after SIGCONT.
    if signal == SIGTERM { bus.send(ServiceManager.kill(task.unit, .all, SIGCONT)) }
    if !task.known.hasBeenActive { bus.send(ServiceManager.stop(task.unit)) }
  }

  /// Moves a task on after a change of its unit.
  func advance(_ task: SystemdTask) {
    switch task.state {
    case .starting: if task.known.isOver { clear(task) }
    // The known state of an adopted task may be out of date until the manager has answered.
    case .running: if task.known.isOver, !task.awaitsReply { clear(task) }
    // If a unit is forgotten before it fails, systemd lists it as failed for good.
    case .reported: if task.isReleased, task.known.isSettled { discard(task) }
    default: break
    }
  }

  /// Kills the remaining processes of a task whose main process has ended.
  private func clear(_ task: SystemdTask) {
    task.state = .clearing(nil)
    let cgroup = cgroup(of: task)
    do throws(SystemdError) {
      let watch = try CgroupWatch(cgroup, on: loop) { [unowned self, unowned task] in count(task) }
      guard let watch else { return count(task) }
      task.state = .clearing(watch)
      send(SIGKILL, to: task)
    } catch {
      send(SIGKILL, to: task)
      count(task)
    }
  }

  /// Reads the accounting of a task.
  private func count(_ task: SystemdTask) {
    task.state = .counting
    count(SystemdTask.counters[...], of: task)
  }

  /// Reads one property at a time, because reading all properties of a service costs the manager more.
  private func count(_ counters: ArraySlice<String>, of task: SystemdTask) {
    guard let counter = counters.first else { return conclude(task) }
    let method = BusMethod.get(counter, of: ServiceManager.service, at: task.path, in: ServiceManager.name)
    ask(method, about: task) { launcher, task, answer in
      if case .success(let values) = answer, let value = values.first { task.apply(value, of: counter) }
      launcher.count(counters.dropFirst(), of: task)
    }
  }

  private func conclude(_ task: SystemdTask) {
    task.output?.drain()
    var end = TaskEnd(
      exit: task.known.exit(of: task), printed: task.hadPrinted || task.output?.hasPrinted ?? false,
      cpu: task.processorTime, message: task.output?.message ?? "")
    end.bytes = task.bytes
    if task.launch == nil { end.duration = task.known.duration }
    report(task, end)
  }

  /// Reports the end of a task; the unit stays.
  func report(_ task: SystemdTask, _ end: TaskEnd) {
    task.state = .reported
    task.output = nil
    weigh()
    owner.ended(task.key, end)
    discardIfReleased(task)
  }

  /// Reports that a task cannot start.
  func fail(_ task: SystemdTask, _ sentence: String) {
    task.call = nil
    // The sentence is also the message: if the task is stopped for its deadline meanwhile, the deadline is the cause.
    report(task, TaskEnd(exit: .notStarted(sentence), message: sentence))
  }
}

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
        "cannot start \(task.program): the service manager cannot prepare it; journalctl -u \(task.unit) says why")
    case (let result, nil):
      .notStarted("cannot start \(task.program): the service manager gave up its start (\(result))")
    }
  }

  /// The exit of a main process that ended before the manager knew whether its program ran.
  private func exitOfShortLife(_ task: SystemdTask, _ status: Int32) -> TaskEnd.Exit {
    task.sentence(forStatus: status).map { .notStarted($0) } ?? .exited(status)
  }
}

/// Finds out why a program did not run, by the exit status of the service manager's child process.
///
/// See "Process Exit Codes" in systemd.exec(5). A program may exit with such a status itself, so this checks the likely
/// cause, such as a missing file.
struct ExecFailure {
  /// The statuses that the manager's child uses for failures before the program runs; a program may use them too.
  static let statuses: ClosedRange<Int32> = 200...255

  let program: String
  let directory: String
  let user: String
  /// Whether the app has `sandbox = "strict"`; without it, few of the manager's steps can fail.
  let isStrict: Bool

  /// The sentence for a status, like the sentence of ``Spawner``; nil if the cause of the status is not found.
  func sentence(forStatus status: Int32) -> String? {
    switch status {
    case 200:
      isDirectory ? nil : "cannot start \(program): cannot enter its directory \(directory); make it, or name another"
    case 203: code.map { StartError(program, exec: $0).sentence }
    case 216,
      217 where getpwnam(user) == nil:
      "cannot start \(program): cannot become user \(user)"
    default:
      isStrict && Self.ofSandbox.contains(status)
        ? "cannot start \(program): the service manager cannot make its sandbox (exit status \(status) in "
          + "systemd.exec(5)); check that it can open the folders of writable, and may create namespaces on this machine"
        : nil
    }
  }

  /// The statuses of the steps that make the sandbox: user, capabilities, network, name spaces, system calls.
  private static let ofSandbox: Set<Int32> = [217, 218, 225, 226, 227, 228, 232]

  private var isDirectory: Bool {
    var status = stat()
    return stat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The error that execve(2) must have returned; nil if the program looks right.
  private var code: Int32? {
    let descriptor = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else {
      return EACCES
    }
    var start = [UInt8](repeating: 0, count: 256)
    start.removeLast(start.count - max(0, read(descriptor, &start, start.count)))
    if start.starts(with: [0x7f] + Array("ELF".utf8)) { return nil }
    guard start.starts(with: Array("#!".utf8)) else { return ENOEXEC }
    let line = start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return access(String(decoding: words.first ?? [], as: UTF8.self), X_OK) == 0 ? nil : ENOENT
  }
}
