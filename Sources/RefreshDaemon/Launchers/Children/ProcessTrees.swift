import CLinux
import Glibc
import Systemd

/// Reaches every process of a task, also a process that left its session and process group.
///
/// ``CgroupTrees`` is used if the daemon's cgroup is delegated, ``SubreaperTrees`` otherwise.
protocol ProcessTrees: AnyObject {
  /// Prepares for a task, and returns an open `cgroup.procs` for its main process to join, if there is one.
  ///
  /// The caller closes it, and calls ``clear(_:then:)`` even if nothing was started.
  func prepare(_ key: ProcessKey, environment: [String]) throws(StartError) -> Int32?

  /// Records the main process of a task, which leads a session of its own.
  func started(_ key: ProcessKey, main: pid_t)

  /// Sends a signal to every process of a task.
  func send(_ signal: Int32, to key: ProcessKey)

  /// The known processes of a task, without the main process.
  func processes(of key: ProcessKey) -> [pid_t]

  /// Kills the remaining processes of a task whose main process has ended but is not reaped yet.
  ///
  /// Calls `then` when no process is left, at once if there was none. The argument is the processor time of the
  /// processes that this type reaped itself.
  func clear(_ key: ProcessKey, then: @escaping (Duration) -> Void)

  /// The directory of a task's cgroup, if it has one of its own.
  func cgroup(of key: ProcessKey) -> String?

  /// Kills the processes that a previous daemon left behind, and waits for their ends until the bound.
  ///
  /// Handles only processes that ``LeftProcesses`` cannot find.
  func clean(until bound: WaitBound)
}

extension ProcessTrees {
  func cgroup(of key: ProcessKey) -> String? { nil }
}

extension Duration {
  /// The sum of user and system time.
  init(_ usage: rusage) {
    self =
      .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
  }
}

/// Reaches the processes of each task through a cgroup of its own (cgroups(7)), which no process can leave by itself.
///
/// Works below the daemon's cgroup if the service manager has delegated it (`Delegate=yes`). A cgroup has either
/// processes or children, so the daemon moves into the leaf `daemon`. A task is in `refresh-ID-N`.
final class CgroupTrees: ProcessTrees {
  /// How the names of the tasks' cgroups begin.
  static let start = "refresh-"

  private let loop: EventLoop
  private let directory: String
  private var clearing: [ProcessKey: CgroupWatch] = [:]

  /// Divides the cgroup of a directory, and moves the calling process into a leaf.
  ///
  /// Throws when the directory is no cgroup or is not delegated to this user.
  init(on loop: EventLoop, directory: String) throws(SystemCallError) {
    self.loop = loop
    self.directory = directory
    let leaf = "\(directory)/daemon"
    guard mkdir(leaf, 0o755) == 0 || errno == EEXIST else {
      throw SystemCallError(attempt: "make the cgroup \(leaf)", code: errno)
    }
    try Cgroup.write("0", to: "\(leaf)/cgroup.procs")
  }

  func prepare(_ key: ProcessKey, environment: [String]) throws(StartError) -> Int32? {
    let path = path(of: key)
    let isMade = mkdir(path, 0o755) == 0
    let descriptor = isMade ? open("\(path)/cgroup.procs", O_WRONLY | O_CLOEXEC) : -1
    guard descriptor >= 0 else {
      throw StartError(sentence: SystemCallError(attempt: "make the cgroup \(path)", code: errno).description)
    }
    return descriptor
  }

  func started(_ key: ProcessKey, main: pid_t) {}

  func send(_ signal: Int32, to key: ProcessKey) {
    Cgroup.send(signal, to: path(of: key))
  }

  func processes(of key: ProcessKey) -> [pid_t] { Cgroup.processes(in: path(of: key)) }

  func clear(_ key: ProcessKey, then: @escaping (Duration) -> Void) {
    let path = path(of: key)
    if Cgroup.remove(path) { return then(.zero) }
    Cgroup.send(SIGKILL, to: path)
    do throws(SystemdError) {
      clearing[key] = try CgroupWatch(path, on: loop) { [unowned self] in cleared(key, then: then) }
      if clearing[key] == nil { cleared(key, then: then) }
    } catch {
      then(.zero)
    }
  }

  func clean(until bound: WaitBound) {
    for name in SmallFiles.names(in: directory) where name.hasPrefix(Self.start) {
      let path = "\(directory)/\(name)"
      Cgroup.send(SIGKILL, to: path)
      Cgroup.wait(forEndOf: path, until: bound)
      _ = Cgroup.remove(path)
    }
  }

  func cgroup(of key: ProcessKey) -> String? { path(of: key) }

  private func cleared(_ key: ProcessKey, then: (Duration) -> Void) {
    clearing[key] = nil
    _ = Cgroup.remove(path(of: key))
    then(.zero)
  }

  private func path(of key: ProcessKey) -> String { "\(directory)/\(Self.start)\(key)" }
}

/// Reaches the processes of tasks as the reaper of their orphans.
///
/// With `PR_SET_CHILD_SUBREAPER`, a process whose parent has ended becomes a child of the daemon, whatever its session
/// and however often it forked. So every process of a task has a chain of living parents. The chain ends at the task's
/// main process, or at a **stray**: a child that the daemon did not start. The children of a killed process become
/// strays in turn, so killing strays until there are none reaches every process.
///
/// A stray differs from the daemon's other children by its session, which is never the daemon's own. It belongs to a
/// task by its session or by the `REFRESH_` variables of its environment. A stray that hides both may belong to any
/// task that is there when it is found, and is killed when the last of these tasks has ended.
///
/// The daemon's other children are those of the threads that start tasks. So a child of the main thread that has ended is a
/// stray, and is reaped soon: until then it takes up a process id. A task may fork without end, so each turn of the loop
/// looks at a bounded number of strays.
final class SubreaperTrees: ProcessTrees {
  private struct Tree {
    /// The main process, once it is started.
    var main: pid_t?
    let marks: Set<String>
    var whenCleared: ((Duration) -> Void)?
    var processorTime = Duration.zero
  }

  private struct Stray {
    let source: IOSource
    let descriptor: Int32
    let owners: Set<ProcessKey>
    /// Whether the process was already ending when it was found, which is too late to find its owner.
    let isEnding: Bool
    /// The task whose end waits for the end of this process.
    var killedFor: ProcessKey?
    var isKilled = false
  }

  /// The most strays that one turn looks at, and that one turn reaps.
  private static let batch = 64
  private static let reaps = 256
  /// The pause between two turns that reap, in microseconds.
  private static let pause: Int64 = 5_000
  /// The most processes that a signal other than SIGKILL looks for outside of the group of its task.
  private static let signalled = 1024

  private let loop: EventLoop
  private let socketMark: String
  private let ownSession = getsid(0)
  /// The list of the children of the main thread, which becomes the parent of orphans.
  private let childrenFile: Int32
  private var trees: [ProcessKey: Tree] = [:]
  private var keysOfMains: [pid_t: ProcessKey] = [:]
  private var strays: [pid_t: Stray] = [:]
  private var clearing: Set<ProcessKey> = []
  /// Runs one sweep for all tasks that end in the same turn of the loop, because each sweep reads all children.
  private var sweeping: TimerSource?
  private var isSweepDue = false
  private var ends: SignalSource?
  private var reaping: TimerSource?

  /// Makes the process the reaper of its orphans; `socket` is the value of `REFRESH_SOCKET` of the tasks.
  ///
  /// Throws on a kernel without lists of children (`CONFIG_PROC_CHILDREN`), or without `/proc`.
  init(on loop: EventLoop, socket: String) throws {
    self.loop = loop
    socketMark = "REFRESH_SOCKET=\(socket)"
    let path = "/proc/self/task/\(getpid())/children"
    childrenFile = open(path, O_RDONLY | O_CLOEXEC)
    guard childrenFile >= 0 else { throw SystemCallError(attempt: "open \(path)", code: errno) }
    guard linux_become_subreaper() == 0 else {
      throw SystemCallError(attempt: "become the reaper of orphaned processes", code: errno)
    }
    sweeping = try loop.timer { [unowned self] in sweep() }
    // Orphans become children of the main thread. A test runs its loop on another.
    guard linux_thread_id() == getpid() else { return }
    let reap: () -> Void = { [unowned self] in self.reap() }
    reaping = try loop.timer(handler: reap)
    ends = try loop.onSignal(SIGCHLD, handler: reap)
  }

  // Nothing would reap later orphans.
  deinit {
    _ = linux_resign_as_subreaper()
    close(childrenFile)
  }

  func prepare(_ key: ProcessKey, environment: [String]) throws(StartError) -> Int32? {
    trees[key] = Tree(marks: Set(environment.filter { $0.hasPrefix("REFRESH_") }))
    return nil
  }

  func started(_ key: ProcessKey, main: pid_t) {
    trees[key]?.main = main
    keysOfMains[main] = key
  }

  func send(_ signal: Int32, to key: ProcessKey) {
    guard let main = trees[key]?.main else { return }
    _ = adopt()
    let owned = strays.filter { $0.value.owners == [key] }.map(\.key)
    // First the group in one call, during which no process can leave it, then the processes that left it before, as
    // far as they are found. The others die after the main process.
    Glibc.kill(-main, signal)
    let found = KernelProcesses.descendants(of: [main] + owned, most: Self.signalled)
    for process in found.union(owned) where getpgid(process) != main { Glibc.kill(process, signal) }
  }

  func processes(of key: ProcessKey) -> [pid_t] { strays.filter { $0.value.owners.contains(key) }.keys.sorted() }

  func clear(_ key: ProcessKey, then: @escaping (Duration) -> Void) {
    guard let main = trees[key]?.main else {
      trees[key] = nil
      return then(.zero)
    }
    // The main process is not reaped yet, so no other group can have its number.
    Glibc.kill(-main, SIGKILL)
    trees[key]?.whenCleared = then
    clearing.insert(key)
    sweepSoon()
  }

  // The orphans of a crashed daemon have another reaper by now.
  func clean(until bound: WaitBound) {}

  // MARK: Strays

  private func sweepSoon() {
    guard !isSweepDue else { return }
    isSweepDue = true
    sweeping?.arm(at: 0, accuracy: 1)
  }

  /// Kills the strays that no running task owns, and ends the clearing of tasks without strays.
  ///
  /// Waits for strays that are already ending, because their children may belong to a task that is being cleared.
  private func sweep() {
    isSweepDue = false
    guard adopt() else { return sweepSoon() }
    for (process, stray) in strays
    where !stray.isKilled && (stray.isEnding || !stray.owners.contains(where: isRunning)) {
      let killed = linux_pidfd_send_signal(stray.descriptor, SIGKILL) == 0
      strays[process]?.isKilled = true
      // A process with more privileges than a user's daemon (EPERM) must not delay the end.
      strays[process]?.killedFor = killed ? stray.owners.first(where: clearing.contains) : nil
    }
    let waitedFor = Set(strays.values.compactMap(\.killedFor))
    for key in clearing.subtracting(waitedFor) {
      clearing.remove(key)
      guard let tree = trees.removeValue(forKey: key) else { continue }
      if let main = tree.main { keysOfMains[main] = nil }
      tree.whenCleared?(tree.processorTime)
    }
  }

  private func isRunning(_ key: ProcessKey) -> Bool { trees[key] != nil && !clearing.contains(key) }

  /// Records strays that have appeared since the last call; returns false if there may be more.
  ///
  /// A task that leaves no process behind costs two reads of one file.
  private func adopt() -> Bool {
    var left = Self.batch
    // A process that has just ended may have left children, which were not in the list yet.
    var isComplete = true
    let isAnyRunning = trees.keys.contains(where: isRunning)
    for child in KernelProcesses.identifiers(in: SmallFiles.bytes(of: childrenFile))
    where keysOfMains[child] == nil && strays[child] == nil && getsid(child) != ownSession {
      guard left > 0 else { return false }
      left -= 1
      // At once, because it may fork.
      if !isAnyRunning { Glibc.kill(child, SIGKILL) }
      if !adopt(child) { isComplete = false }
    }
    return isComplete
  }

  /// Returns false for a process that has ended.
  private func adopt(_ child: pid_t) -> Bool {
    if reap(child) { return false }
    let owners = owners(of: child)
    let descriptor = linux_pidfd_open(child)
    guard descriptor >= 0 else { return true }
    do throws(SystemdError) {
      let source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in strayEnded(child) }
      strays[child] = Stray(
        source: source, descriptor: descriptor, owners: owners, isEnding: KernelProcesses.isEnding(child))
    } catch {
      // Without memory for a watch, kill the process now; the end of the next task reaps it.
      _ = linux_pidfd_send_signal(descriptor, SIGKILL)
      close(descriptor)
    }
    return true
  }

  private func owners(of stray: pid_t) -> Set<ProcessKey> {
    if let key = keysOfMains[getsid(stray)] { return [key] }
    var environment = KernelProcesses.environment(of: stray)
    // A process in the middle of execve(2) has no environment for a moment.
    for _ in 0..<50 where environment.isEmpty && !KernelProcesses.isEnding(stray) {
      sched_yield()
      environment = KernelProcesses.environment(of: stray)
    }
    let marked = trees.filter { !$0.value.marks.isEmpty && $0.value.marks.isSubset(of: environment) }
    if !marked.isEmpty || environment.contains(socketMark) { return Set(marked.keys) }
    return Set(trees.keys)
  }

  private func strayEnded(_ process: pid_t) {
    if !reap(process) { forget(process) }
    sweepSoon()
  }

  /// Reaps the strays that have ended, as many as one turn may.
  private func reap() {
    var left = Self.reaps
    while left > 0, case let process = linux_ended_child(), process > 0, reap(process) { left -= 1 }
    // After some there may be more, which then wait for a moment, so that others have their turns.
    ends?.isEnabled = left == Self.reaps
    guard left < Self.reaps else { return }
    reaping?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: 1)
    if !clearing.isEmpty { sweepSoon() }
  }

  /// Reaps a stray; returns false if it has not ended.
  private func reap(_ process: pid_t) -> Bool {
    let session = keysOfMains[getsid(process)]
    var usage = rusage()
    guard wait4(process, nil, WNOHANG, &usage) == process else { return false }
    // Without a record it is too late to read its environment.
    add(usage, of: strays[process]?.owners ?? session.map { [$0] } ?? Set(trees.keys))
    forget(process)
    return true
  }

  private func forget(_ process: pid_t) {
    guard let stray = strays.removeValue(forKey: process) else { return }
    stray.source.cancel()
    close(stray.descriptor)
  }

  private func add(_ usage: rusage, of owners: Set<ProcessKey>) {
    guard owners.count == 1, let owner = owners.first else { return }
    trees[owner]?.processorTime += Duration(usage)
  }
}
