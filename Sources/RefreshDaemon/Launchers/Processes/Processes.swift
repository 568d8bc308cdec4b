import Glibc

/// Reads processes from `/proc` (proc(5)).
///
/// Any answer may be out of date, so a caller that acts on it must check that the process is still the same.
enum Processes {
  /// The ids of all visible processes.
  static func all() -> [pid_t] {
    names(in: "/proc").compactMap { pid_t($0) }
  }

  /// The environment that a process was started with, as `NAME=value`.
  ///
  /// Empty for a process that has ended, or whose environment the kernel does not let this user read.
  static func environment(of process: pid_t) -> Set<String> {
    let bytes = contents(of: "/proc/\(process)/environ")
    return Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
  }

  /// Whether a process is ending: the kernel has already freed its memory (proc(5), statm) and its environment.
  static func isEnding(_ process: pid_t) -> Bool {
    let memory = contents(of: "/proc/\(process)/statm")
    return memory.isEmpty || memory.starts(with: Array("0 ".utf8))
  }

  /// The children of these processes, their children and so on, without the processes themselves.
  static func descendants(of processes: [pid_t]) -> Set<pid_t> {
    var found: Set<pid_t> = []
    var next = processes
    while let process = next.popLast() {
      for thread in names(in: "/proc/\(process)/task") {
        let children = identifiers(in: contents(of: "/proc/\(process)/task/\(thread)/children"))
        next += children.filter { found.insert($0).inserted }
      }
    }
    return found
  }

  /// The process ids in a text that separates them by spaces or lines.
  static func identifiers(in text: [UInt8]) -> [pid_t] {
    text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
      .compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
  }

  /// The bytes of a file; empty if it cannot be read, because the process is gone.
  static func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return contents(of: descriptor)
  }

  /// The bytes of an open file, from its beginning.
  static func contents(of descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while case let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count)), count > 0 {
        bytes += buffer[..<count]
      }
    }
    return bytes
  }

  /// The names in a directory, except those that begin with a dot; empty if it cannot be read.
  static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { bytes in
        bytes.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: bytes.pointee)) {
          String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
