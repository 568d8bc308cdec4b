import Glibc

/// What `/proc` tells of processes (`proc(5)`).
///
/// Every answer may be out of date when it is given; who acts on one makes sure that the process is still meant.
enum Processes {
  /// The ids of all processes that can be seen.
  static func all() -> [pid_t] {
    names(in: "/proc").compactMap { pid_t($0) }
  }

  /// The environment that a process was started with, `NAME=value` each.
  ///
  /// Empty for one that has ended, and for one of another user that the kernel does not let this one look at.
  static func environment(of process: pid_t) -> Set<String> {
    let bytes = contents(of: "/proc/\(process)/environ")
    return Set(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
  }

  /// Whether a process is on its way out: its memory is gone already (proc(5), statm), and its environment with it.
  static func isEnding(_ process: pid_t) -> Bool {
    let memory = contents(of: "/proc/\(process)/statm")
    return memory.isEmpty || memory.starts(with: Array("0 ".utf8))
  }

  /// The children of these processes, their children, and so on, without the processes themselves.
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

  /// All bytes of a file, or none when it cannot be read: the process is gone.
  static func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return contents(of: descriptor)
  }

  /// All bytes of an open file, from its beginning.
  static func contents(of descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while case let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count)), count > 0 {
        bytes += buffer[..<count]
      }
    }
    return bytes
  }

  /// The names in a directory but those that begin with a dot; none when it cannot be read.
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
