import CLinux
import Glibc
import Systemd
import Testing

@testable import RefreshDaemon

/// The two ways to reach the processes of a task; a test runs with both.
enum TreeKind: String, CaseIterable {
  case subreaper
  case cgroup

  /// The ways that work here: a cgroup needs root and cgroups version 2.
  static let available = allCases.filter { $0 == .subreaper || (geteuid() == 0 && mount != nil) }

  /// The mount of the unified hierarchy.
  private static let mount = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    .first { access("\($0)/cgroup.procs", W_OK) == 0 }

  /// Calls `body` with a factory of process trees; with cgroups, the test process runs in a cgroup of its own
  /// meanwhile.
  func withTrees(_ body: (@escaping (EventLoop) throws -> any ProcessTrees) throws -> Void) throws {
    switch self {
    case .subreaper:
      try body { try SubreaperTrees(on: $0, socket: Stage.socket) }
    case .cgroup:
      let mount = try #require(Self.mount)
      let directory = "\(mount)/refreshd-tests-\(getpid())"
      let membership = String(decoding: SmallFiles.bytes(of: "/proc/self/cgroup"), as: UTF8.self)
      let own = try #require(membership.split(separator: "\n").first { $0.hasPrefix("0::") }).dropFirst(3)
      try #require(mkdir(directory, 0o755) == 0)
      defer {
        for process in KernelProcesses.identifiers(in: SmallFiles.bytes(of: "\(directory)/daemon/cgroup.procs")) {
          #expect(throws: Never.self) { try Cgroup.write("\(process)", to: "\(mount)\(own)/cgroup.procs") }
        }
        #expect(rmdir("\(directory)/daemon") == 0)
        #expect(rmdir(directory) == 0, "no task's cgroup is left")
      }
      try body { try CgroupTrees(on: $0, directory: directory) }
    }
  }
}

/// Whether a process has ended, or ends within 10 s: SIGKILL is on its way when the end of a task is reported.
func ends(_ process: pid_t) -> Bool {
  let descriptor = linux_pidfd_open(process)
  guard descriptor >= 0 else { return errno == ESRCH }
  defer { close(descriptor) }
  var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&end, 1, 10_000) == 1
}

/// Whether a process runs; a process that has ended but is not reaped does not run.
func isAlive(_ process: pid_t) -> Bool {
  let status = String(decoding: SmallFiles.bytes(of: "/proc/\(process)/status"), as: UTF8.self)
  return !status.isEmpty && !status.contains("State:\tZ")
}
