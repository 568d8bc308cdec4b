import Glibc
import RefreshAPI

/// A directory that the daemon makes for itself, with its missing parents.
struct Directory {
  let path: String
  /// Its name in messages, such as "state directory".
  let purpose: String
  /// The command-line option for another directory.
  let option: String

  /// Makes the directory if it is missing, with `mode` less the umask.
  func make(mode: mode_t) throws(ServiceError) {
    try make(path, mode)
  }

  private func make(_ path: String, _ mode: mode_t) throws(ServiceError) {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw refusal(path) }
    try make(String(path[..<slash]), mode)
    guard mkdir(path, mode) == 0 || errno == EEXIST else { throw refusal(path) }
  }

  private func refusal(_ path: String) -> ServiceError {
    let reason = SystemCallError.text(of: errno)
    return ServiceError(.cannotCreate, "cannot make the \(purpose) \(path): \(reason); give another with \(option)")
  }
}

/// The lock of a state directory: two daemons on one store would refresh every app twice.
///
/// It is a record lock of fcntl(2), which ends with the process and which no child inherits. With a lock of flock(2), a
/// child that has not yet called execve(2) would keep a daemon from starting after its predecessor was killed.
enum StateLock {
  /// Makes the directory for its owner only if it is missing, and holds the lock for the life of the process.
  static func hold(in directory: String) throws(ServiceError) {
    try Directory(path: directory, purpose: "state directory", option: "--state DIR").make(mode: 0o700)
    let descriptor = Glibc.open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ServiceError(
        .cannotCreate, "cannot write in the state directory \(directory): \(Self.reason); give another with --state DIR"
      )
    }
    var record = Glibc.flock()
    record.l_type = Int16(F_WRLCK)
    record.l_whence = Int16(SEEK_SET)
    guard fcntl(descriptor, F_SETLK, &record) == 0 else {
      close(descriptor)
      throw ServiceError(
        .temporary,
        "cannot use the state directory \(directory): another refreshd uses it; stop that one first")
    }
  }

  private static var reason: String { String(cString: strerror(errno)) }
}

/// An error of a system call, in a sentence: `cannot read /etc/x: Permission denied`.
struct SystemCallError: Error, Hashable, CustomStringConvertible {
  /// The attempt that failed, after "cannot ".
  let attempt: String
  /// The code, from `errno(3)`.
  let code: Int32

  var description: String { "cannot \(attempt): \(Self.text(of: code))" }

  /// The C library's text for a code.
  static func text(of code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text)
  }
}

/// Reads small files and directories whole, such as those of procfs, sysfs and cgroups.
enum SmallFiles {
  /// The bytes of a file; empty if it cannot be read, for example because its process is gone.
  static func bytes(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return bytes(of: descriptor)
  }

  /// The bytes of an open file, from its beginning; at most a block more than the most, if the file is longer.
  static func bytes(of descriptor: Int32, most: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while bytes.count <= most,
        case let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count)), count > 0
      {
        bytes += buffer[..<count]
      }
    }
    return bytes
  }

  /// The text of a file without the newline at its end; nil if the file is empty or cannot be read.
  static func text(of path: String) -> String? {
    var bytes = bytes(of: path)
    guard !bytes.isEmpty else { return nil }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names in a directory, except those that begin with a dot; empty if it cannot be read.
  static func names(in directory: String) -> [String] {
    do throws(SystemCallError) { return try list(directory) } catch { return [] }
  }

  /// The names of the first directories in a directory, except those that begin with a dot; empty if it cannot be read.
  static func directories(in directory: String, most: Int) -> [String] {
    do throws(SystemCallError) { return try list(directory, isOfDirectories: true, most: most) } catch { return [] }
  }

  /// The names in a directory, except those that begin with a dot.
  static func list(
    _ directory: String, isOfDirectories: Bool = false, most: Int = .max
  ) throws(SystemCallError) -> [String] {
    guard let stream = opendir(directory) else { throw SystemCallError(attempt: "read \(directory)", code: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while names.count < most, let entry = readdir(stream) {
      if isOfDirectories, Int(entry.pointee.d_type) != Int(DT_DIR) { continue }
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
