import Glibc

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
