import CLinux
import Glibc
import Systemd

/// Reaches the processes of tasks as the reaper of their orphans.
///
/// With `PR_SET_CHILD_SUBREAPER` a process whose parent ended becomes a child of the daemon, however often it forked
/// and whatever session it made. So every living process of a task has a chain of living parents that ends at the
/// task's main process or at a **stray**, a child that the daemon did not start. Killing strays until there are none
/// is complete: what a killed process leaves becomes a stray in turn.
///
/// A stray is told from the daemon's other children by its session, which is never the daemon's own, and belongs to a
/// task by its session or by the `REFRESH_` entries of its environment. One that hides both might belong to any task
/// that is there when it is found, and is killed when the last of these has ended.
final class SubreaperTrees: ProcessTrees {
  private struct Tree {
    let main: pid_t
    let marks: Set<String>
    var whenCleared: ((Duration) -> Void)?
    var processorTime = Duration.zero
  }

  private struct Stray {
    let source: IOSource
    let descriptor: Int32
    let owners: Set<TaskKey>
    /// Whether it was ending when it was found, too late to tell whose it is.
    let isEnding: Bool
    /// The task whose end waits for this one's.
    var killedFor: TaskKey?
    var isKilled = false
  }

  private let loop: EventLoop
  private let socketMark: String
  private let ownSession = getsid(0)
  /// The children of the process' first thread, to which the kernel gives orphans.
  private let childrenFile: Int32
  private var trees: [TaskKey: Tree] = [:]
  private var keysOfMains: [pid_t: TaskKey] = [:]
  private var strays: [pid_t: Stray] = [:]
  private var clearing: Set<TaskKey> = []
  /// Sweeps once for all tasks that end in one turn of the loop: each look at the children costs their number.
  private var sweeping: TimerSource?
  private var isSweepDue = false

  /// Makes the process the reaper of its orphans; `socket` is the value of the tasks' `REFRESH_SOCKET`.
  ///
  /// Throws on a kernel without lists of children (`CONFIG_PROC_CHILDREN`), or when `/proc` is not there.
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
  }

  // Nobody would reap the orphans that come after.
  deinit {
    _ = linux_resign_as_subreaper()
    close(childrenFile)
  }

  func prepare(_ key: TaskKey) throws(StartError) -> Int32? { nil }

  func started(_ key: TaskKey, main: pid_t, environment: [String]) {
    trees[key] = Tree(main: main, marks: Set(environment.filter { $0.hasPrefix("REFRESH_") }))
    keysOfMains[main] = key
  }

  func send(_ signal: Int32, to key: TaskKey) {
    guard let tree = trees[key] else { return }
    adopt()
    let owned = strays.filter { $0.value.owners == [key] }.map(\.key)
    // The group in one call, which no process can leave in between, then those that left it before.
    Glibc.kill(-tree.main, signal)
    for process in Processes.descendants(of: [tree.main] + owned).union(owned) where getpgid(process) != tree.main {
      Glibc.kill(process, signal)
    }
  }

  func clear(_ key: TaskKey, then: @escaping (Duration) -> Void) {
    guard let main = trees[key]?.main else { return then(.zero) }
    // The main process is not reaped yet, so the number of its group is still its own.
    Glibc.kill(-main, SIGKILL)
    trees[key]?.whenCleared = then
    clearing.insert(key)
    guard !isSweepDue else { return }
    isSweepDue = true
    sweeping?.arm(at: 0, accuracy: 1)
  }

  // The orphans of a daemon that died have another reaper by now.
  func clean(until bound: WaitBound) {}

  // MARK: Strays

  /// Kills the strays that no running task owns, waits for those that are ending, because what they leave may be a
  /// task's that is being cleared, and ends the clearing of tasks that have none left.
  private func sweep() {
    isSweepDue = false
    adopt()
    for (process, stray) in strays
    where !stray.isKilled && (stray.isEnding || !stray.owners.contains(where: isRunning)) {
      let killed = linux_pidfd_send_signal(stray.descriptor, SIGKILL) == 0
      strays[process]?.isKilled = true
      // A program with more rights than a user's daemon has (EPERM) cannot hold up the end.
      strays[process]?.killedFor = killed ? stray.owners.first(where: clearing.contains) : nil
    }
    let waitedFor = Set(strays.values.compactMap(\.killedFor))
    for key in clearing.subtracting(waitedFor) {
      clearing.remove(key)
      guard let tree = trees.removeValue(forKey: key) else { continue }
      keysOfMains[tree.main] = nil
      tree.whenCleared?(tree.processorTime)
    }
  }

  private func isRunning(_ key: TaskKey) -> Bool { trees[key] != nil && !clearing.contains(key) }

  /// Takes note of the strays that came since the last time.
  ///
  /// A task that leaves nothing behind costs the two reads of one file.
  private func adopt() {
    for child in Processes.identifiers(in: Processes.contents(of: childrenFile))
    where keysOfMains[child] == nil && strays[child] == nil && getsid(child) != ownSession {
      adopt(child)
    }
  }

  private func adopt(_ child: pid_t) {
    let owners = owners(of: child)
    var usage = rusage()
    if wait4(child, nil, WNOHANG, &usage) == child { return add(usage, of: owners) }
    let descriptor = linux_pidfd_open(child)
    guard descriptor >= 0 else { return }
    do throws(SystemdError) {
      let source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in strayEnded(child) }
      strays[child] = Stray(
        source: source, descriptor: descriptor, owners: owners, isEnding: Processes.isEnding(child))
    } catch {
      // Without memory to watch it, end it now; it is reaped when the next task ends.
      _ = linux_pidfd_send_signal(descriptor, SIGKILL)
      close(descriptor)
    }
  }

  private func owners(of stray: pid_t) -> Set<TaskKey> {
    if let key = keysOfMains[getsid(stray)] { return [key] }
    var environment = Processes.environment(of: stray)
    // In the middle of execve(2) it has none for a moment.
    for _ in 0..<50 where environment.isEmpty && !Processes.isEnding(stray) {
      sched_yield()
      environment = Processes.environment(of: stray)
    }
    let marked = trees.filter { !$0.value.marks.isEmpty && $0.value.marks.isSubset(of: environment) }
    if !marked.isEmpty || environment.contains(socketMark) { return Set(marked.keys) }
    return Set(trees.keys)
  }

  private func strayEnded(_ process: pid_t) {
    guard let stray = strays.removeValue(forKey: process) else { return }
    stray.source.cancel()
    close(stray.descriptor)
    var usage = rusage()
    if wait4(process, nil, WNOHANG, &usage) == process { add(usage, of: stray.owners) }
    sweep()
  }

  private func add(_ usage: rusage, of owners: Set<TaskKey>) {
    guard owners.count == 1, let owner = owners.first else { return }
    trees[owner]?.processorTime += Duration(usage)
  }
}
