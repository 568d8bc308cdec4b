@preconcurrency import Glibc

/// Paths as the daemon takes them: whole, and without links, which it does not follow for others.
enum WholePath {
  /// The whole path of a file that may be there or not; for a folder, of the file in it that the URL names.
  static func target(_ path: String, of url: String) throws(Failure) -> String {
    var status = stat()
    if path.hasSuffix("/") || (stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR) {
      let name = fileName(of: url)
      guard !name.isEmpty else {
        throw Failure(
          status: .usage, text: "cannot name the file in \(path): the URL has no name at its end; give one in --to")
      }
      return try join(existing(path), name)
    }
    guard let slash = path.lastIndex(of: "/") else { return try join(existing("."), path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return try join(existing(folder), String(path[path.index(after: slash)...]))
  }

  /// The whole path of a file or folder that is there.
  static func existing(_ path: String) throws(Failure) -> String {
    guard let real = realpath(path, nil) else {
      throw Failure(
        status: .notFound,
        text: "cannot use \(printable(path)): \(String(cString: strerror(errno))); name a file or folder that is there")
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// What a URL has behind its last slash, without what it asks for; nothing where that names no file.
  static func fileName(of url: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = path.firstRange(of: "://") else { return "" }
    let parts = path[scheme.upperBound...].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1, let name = parts.last, name != ".", name != ".." else { return "" }
    return String(name)
  }

  private static func join(_ folder: String, _ name: String) -> String {
    folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}
