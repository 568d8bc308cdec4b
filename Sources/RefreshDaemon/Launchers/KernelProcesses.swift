@preconcurrency import CLinux
import CLinux
import Glibc
import Systemd

/// Reads processes from `/proc` (proc(5)).
///
/// Any answer may be out of date, so a caller that acts on it must check that the process is still the same.
enum KernelProcesses {
  /// The ids of all visible processes.
  static func all() -> [pid_t] {
    SmallFiles.names(in: "/proc").compactMap { pid_t($0) }
  }

  /// The environment that a process was started with, as `NAME=value`.
  ///
  /// Empty for a process that has ended, or whose environment the kernel does not let this user read.
  static func environment(of process: pid_t) -> Set<String> {
    let bytes = SmallFiles.bytes(of: "/proc/\(process)/environ")
    return Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
  }

  /// Whether a process is ending: the kernel has already freed its memory (proc(5), statm) and its environment.
  static func isEnding(_ process: pid_t) -> Bool {
    let memory = SmallFiles.bytes(of: "/proc/\(process)/statm")
    return memory.isEmpty || memory.starts(with: Array("0 ".utf8))
  }

  /// The children of these processes, their children and so on, without the processes themselves; at least `most` of
  /// them.
  static func descendants(of processes: [pid_t], most: Int = .max) -> Set<pid_t> {
    var found: Set<pid_t> = []
    var next = processes
    while found.count < most, let process = next.popLast() {
      for thread in SmallFiles.names(in: "/proc/\(process)/task") {
        let children = identifiers(in: SmallFiles.bytes(of: "/proc/\(process)/task/\(thread)/children"))
        next += children.filter { found.insert($0).inserted }
      }
    }
    return found
  }

  /// The process ids in a text that separates them by spaces or lines.
  static func identifiers(in text: [UInt8]) -> [pid_t] {
    text.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      .map { $0.reduce(0) { $0 &* 10 &+ pid_t($1 - UInt8(ascii: "0")) } }
  }
}

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

/// The name of a signal, such as `SIGSEGV` (signal(7)).
func signalName(_ number: some BinaryInteger) -> String {
  sigabbrev_np(CInt(number)).map { "SIG" + String(cString: $0) } ?? "signal \(number)"
}

/// The instant at which a starting daemon stops waiting for the tasks of a previous daemon.
struct WaitBound {
  private let end: Int64

  /// A bound this many seconds from now, on the boot clock.
  init(_ seconds: Int64) {
    end = EventLoop.bootMicroseconds() + seconds * 1_000_000
  }

  /// Waits for an event of poll(2) without the loop; false if the bound comes first.
  func wait(for events: Int16, on descriptor: Int32) -> Bool {
    let left = max(0, end - EventLoop.bootMicroseconds())
    var descriptor = pollfd(fd: descriptor, events: events, revents: 0)
    // Rounded up, so that the last wait does not end just before the bound.
    return poll(&descriptor, 1, Int32((left + 999) / 1000)) > 0
  }
}
