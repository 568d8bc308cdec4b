import CLinux
import Glibc
import RefreshEngine
import Systemd

/// The processes of runs that a crashed daemon left behind, found by their environment.
struct LeftProcesses {
  /// The daemon's socket, as in `REFRESH_SOCKET` of its tasks; other daemons have other sockets.
  let socket: String
  /// The runs without a recorded end.
  let runs: Set<RunID>

  /// Kills the processes, and waits for their ends until the bound.
  ///
  /// Searches until it finds none, because a process may fork before it is killed. Returns the pidfds of processes that
  /// have not ended; the caller closes them.
  @discardableResult
  func kill(until bound: WaitBound) -> [pid_t: Int32] {
    guard !runs.isEmpty else { return [:] }
    while case let found = find(), !found.isEmpty {
      for descriptor in found.values { _ = linux_pidfd_send_signal(descriptor, SIGKILL) }
      let left = found.filter { !bound.wait(for: Int16(POLLIN), on: $0.value) }
      for (process, descriptor) in found where left[process] == nil { close(descriptor) }
      guard left.isEmpty else { return left }
    }
    return [:]
  }

  /// The run in a process's environment; nil if the process hides its environment or has another.
  func run(of process: pid_t) -> RunID? {
    let environment = KernelProcesses.environment(of: process)
    return runs.first { environment.contains("REFRESH_ID=\($0)") }
  }

  /// The pidfds of the processes and of their descendants, which may have cleared their environment.
  private func find() -> [pid_t: Int32] {
    let marks = Set(runs.map { "REFRESH_ID=\($0)" })
    let socketMark = "REFRESH_SOCKET=\(socket)"
    let isMarked = { (process: pid_t) in
      let environment = KernelProcesses.environment(of: process)
      return environment.contains(socketMark) && !marks.isDisjoint(with: environment)
    }
    let own = getpid()
    let marked = KernelProcesses.all().filter { $0 != own && isMarked($0) }
    var found: [pid_t: Int32] = [:]
    for process in KernelProcesses.descendants(of: marked).union(marked).subtracting([own]) {
      let descriptor = linux_pidfd_open(process)
      if descriptor >= 0 { found[process] = descriptor }
    }
    return found
  }
}

/// Processes of a task of a previous daemon that did not end after SIGKILL, because they wait in the kernel.
final class LingeringProcesses {
  private var sources: [pid_t: (descriptor: Int32, source: IOSource)] = [:]

  /// Watches processes by their pidfds, and closes the pidfds.
  ///
  /// Throws when the loop cannot watch them.
  init(_ found: [pid_t: Int32], on loop: EventLoop, whenGone: @escaping () -> Void) throws(SystemdError) {
    for (process, descriptor) in found {
      let source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
        ended(process)
        if sources.isEmpty { whenGone() }
      }
      sources[process] = (descriptor, source)
    }
  }

  deinit { for process in sources.keys { ended(process) } }

  /// The processes that have not ended.
  var ids: [pid_t] { sources.keys.sorted() }

  private func ended(_ process: pid_t) {
    guard let (descriptor, source) = sources.removeValue(forKey: process) else { return }
    source.cancel()
    close(descriptor)
  }
}
