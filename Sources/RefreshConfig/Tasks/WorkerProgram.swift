@preconcurrency import Glibc

/// The path of `refresh-worker`, the program of the built-in kinds.
extension Reader {
  /// The absolute path of `refresh-worker`; nil if it is not installed.
  public var worker: String? { workers.first(where: isProgram) }

  /// The possible paths of `refresh-worker`: next to this program, as in a build, or at the place of `make install`.
  public static func workers() -> [String] {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    guard count > 0 else { return [] }
    return workers(besides: String(decoding: buffer[..<count], as: UTF8.self))
  }

  /// The paths for a program at the given path.
  static func workers(besides program: String) -> [String] {
    let folder = program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex)
    let prefix = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
    return ["\(folder)/refresh-worker", "\(prefix)/libexec/refreshd/refresh-worker"]
  }
}
