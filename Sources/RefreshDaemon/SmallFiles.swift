import Glibc

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
