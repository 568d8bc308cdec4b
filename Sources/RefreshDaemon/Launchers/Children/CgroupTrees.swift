import CLinux
import Glibc
import Systemd

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
