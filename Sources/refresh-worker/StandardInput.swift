import Glibc

/// What refreshd hands to a task.
enum StandardInput {
  /// All of it until its end, or the first `most` bytes.
  static func bytes(most: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: most)
    var length = 0
    while length < most {
      let count = bytes.withUnsafeMutableBytes { all in
        let rest = UnsafeMutableRawBufferPointer(rebasing: all[length...])
        return read(STDIN_FILENO, rest.baseAddress, rest.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      length += count
    }
    return Array(bytes[..<length])
  }
}
