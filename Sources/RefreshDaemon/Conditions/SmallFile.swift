import Glibc

/// A file of the kernel that holds a short text.
enum SmallFile {
  /// The text up to the end of the file, without the newline at its end; nil if it cannot be read.
  ///
  /// Reads at most 4096 bytes, the limit of a file of sysfs(5).
  static func text(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { return nil }
      var text = String(decoding: buffer[..<count], as: UTF8.self)
      if text.hasSuffix("\n") { text.removeLast() }
      return text
    }
  }
}
