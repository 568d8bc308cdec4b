@preconcurrency import Glibc

/// Where the program of the built-in kinds is.
extension Reader {
  /// The absolute path of `refresh-worker`; nil if it is nowhere.
  public var worker: String? { workers.first(where: isProgram) }

  /// Where `refresh-worker` may be: beside the program that runs, as in a build, or where `make install` puts it.
  public static func workers() -> [String] {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    guard count > 0 else { return [] }
    return workers(besides: String(decoding: buffer[..<count], as: UTF8.self))
  }

  /// The same for the path of a program.
  static func workers(besides program: String) -> [String] {
    let folder = program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex)
    let prefix = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
    return ["\(folder)/refresh-worker", "\(prefix)/libexec/refreshd/refresh-worker"]
  }
}
