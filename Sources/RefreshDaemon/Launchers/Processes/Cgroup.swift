@preconcurrency import CLinux
import Glibc
import Systemd

/// Directories of the unified cgroup hierarchy (cgroups(7), version 2).
enum Cgroup {
  /// The possible mounts of the hierarchy; the second is for systems that also use version 1.
  static let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]

  /// The end of the path of a cgroup that was removed.
  static let deletedMark = " (deleted)"

  /// The directory of the calling process's cgroup, if the service manager has delegated it.
  ///
  /// systemd marks a delegated cgroup with an extended attribute (`Delegate=`). Without the mark, the cgroup belongs to
  /// its manager, even if root could write to it.
  static func delegated() -> String? {
    guard let path = path(in: SmallFiles.bytes(of: "/proc/self/cgroup")) else { return nil }
    for mount in mounts {
      let directory = mount + path
      guard ["user.delegate", "trusted.delegate"].contains(where: { hasMark($0, directory) }) else { continue }
      return access("\(directory)/cgroup.procs", W_OK) == 0 ? directory : nil
    }
    return nil
  }

  /// The path in the unified hierarchy, from the contents of `/proc/PID/cgroup`; nil without one.
  static func path(in membership: [UInt8]) -> String? {
    let lines = String(decoding: membership, as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
  }

  /// The path of a cgroup in the unified hierarchy, by its id; nil if it is not among several and those below them, or
  /// not among the first `bound` of them.
  static func path(ofID id: UInt64, among directories: [String], bound: Int) -> String? {
    // The root of the hierarchy.
    if id == 1 { return "/" }
    var (next, rest) = (directories, bound)
    while id > 0, rest > 0, let looked = next.popLast() {
      rest -= 1
      var status = stat()
      if stat(looked, &status) == 0, UInt64(status.st_ino) == id {
        // The second mount is below the first.
        return mounts.last { looked.hasPrefix($0) }.map { String(looked.dropFirst($0.utf8.count)) }
      }
      next += SmallFiles.directories(in: looked, most: rest + 1).map { "\(looked)/\($0)" }
    }
    return nil
  }

  /// The cgroup among several that holds a process, directly or in a cgroup below.
  enum Holder: Equatable {
    case none
    case cgroup(String)
    /// Unknown: the search would need more cgroups than the bound.
    case unknown
  }

  /// Finds the cgroup among several that holds a process; searches `bound` cgroups at most.
  ///
  /// The loop waits meanwhile, and a user may make any number of cgroups.
  static func holder(of process: pid_t, among directories: [String], bound: Int) -> Holder {
    var rest = bound
    for directory in directories {
      var next = [directory]
      while let looked = next.popLast() {
        rest -= 1
        guard rest >= 0 else { return .unknown }
        let processes = KernelProcesses.identifiers(in: SmallFiles.bytes(of: "\(looked)/cgroup.procs"))
        if processes.contains(process) { return .cgroup(directory) }
        next += SmallFiles.directories(in: looked, most: rest + 1).map { "\(looked)/\($0)" }
      }
    }
    return .none
  }

  /// Sends a signal to every process of a cgroup; SIGKILL also to the cgroups below it.
  static func send(_ signal: Int32, to directory: String) {
    // Linux 5.14 and later kill the whole cgroup in one step, so no fork can escape.
    if signal == SIGKILL, (try? write("1", to: "\(directory)/cgroup.kill")) != nil { return }
    for process in processes(in: directory) { kill(process, signal) }
  }

  /// The processes of a cgroup.
  static func processes(in directory: String) -> [pid_t] {
    KernelProcesses.identifiers(in: SmallFiles.bytes(of: "\(directory)/cgroup.procs"))
  }

  /// Removes a cgroup and the cgroups below it; false while it has processes.
  static func remove(_ directory: String) -> Bool {
    if rmdir(directory) == 0 || errno == ENOENT { return true }
    guard errno != ENOTDIR else { return false }
    for name in SmallFiles.names(in: directory) { _ = remove("\(directory)/\(name)") }
    return rmdir(directory) == 0
  }

  /// Waits without the loop until a cgroup has no process left, or until the bound.
  static func wait(forEndOf directory: String, until bound: WaitBound) {
    let events = open("\(directory)/cgroup.events", O_RDONLY | O_CLOEXEC)
    guard events >= 0 else { return }
    while isPopulated(events), bound.wait(for: Int16(POLLPRI), on: events) {}
    close(events)
  }

  /// Whether an open `cgroup.events` reports a living process.
  fileprivate static func isPopulated(_ events: Int32) -> Bool {
    String(decoding: SmallFiles.bytes(of: events), as: UTF8.self).split(separator: "\n").contains("populated 1")
  }

  /// Writes to a file of a cgroup.
  static func write(_ text: String, to path: String) throws(SystemCallError) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemCallError(attempt: "open \(path)", code: errno) }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
      throw SystemCallError(attempt: "write \(path)", code: errno)
    }
  }

  private static func hasMark(_ name: String, _ directory: String) -> Bool {
    var value: UInt8 = 0
    return getxattr(directory, name, &value, 1) == 1 && value == UInt8(ascii: "1")
  }
}

/// Watches a cgroup until it has no process left.
final class CgroupWatch {
  private let events: Int32
  private var source: IOSource?

  /// Calls `whenEmpty` when the last process has ended; nil if there is none.
  ///
  /// Throws when the loop cannot watch the cgroup.
  init?(_ directory: String, on loop: EventLoop, whenEmpty: @escaping () -> Void) throws(SystemdError) {
    events = open("\(directory)/cgroup.events", O_RDONLY | O_CLOEXEC)
    guard events >= 0, Cgroup.isPopulated(events) else { return nil }
    // The kernel reports a change since the last read as an exceptional condition.
    source = try loop.watch(events, for: []) { [events] _ in if !Cgroup.isPopulated(events) { whenEmpty() } }
  }

  deinit {
    source?.cancel()
    if events >= 0 { close(events) }
  }
}
