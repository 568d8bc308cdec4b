import CLinux
import Glibc
import RefreshEngine

/// The processes of refreshes that a crashed daemon left behind, found by their environment.
struct LeftProcesses {
  /// The daemon's socket, as in `REFRESH_SOCKET` of its tasks; the tasks of other daemons have another one.
  let socket: String
  /// The refreshes that have no recorded end.
  let refreshes: Set<RefreshID>

  /// Kills the processes, and waits for their ends until the bound.
  ///
  /// Searches until it finds none, because a process may fork before it is killed.
  func kill(until bound: WaitBound) {
    guard !refreshes.isEmpty else { return }
    while case let found = find(), !found.isEmpty {
      for descriptor in found { _ = linux_pidfd_send_signal(descriptor, SIGKILL) }
      let haveEnded = found.allSatisfy { bound.wait(for: Int16(POLLIN), on: $0) }
      for descriptor in found { close(descriptor) }
      guard haveEnded else { return }
    }
  }

  /// The pidfds of the processes and of their descendants, which may have cleared their environment.
  private func find() -> [Int32] {
    let marks = Set(refreshes.map { "REFRESH_ID=\($0)" })
    let socketMark = "REFRESH_SOCKET=\(socket)"
    let isMarked = { (process: pid_t) in
      let environment = Processes.environment(of: process)
      return environment.contains(socketMark) && !marks.isDisjoint(with: environment)
    }
    let own = getpid()
    let marked = Processes.all().filter { $0 != own && isMarked($0) }
    return Processes.descendants(of: marked).union(marked).subtracting([own]).compactMap { process in
      let descriptor = linux_pidfd_open(process)
      return descriptor >= 0 ? descriptor : nil
    }
  }
}
