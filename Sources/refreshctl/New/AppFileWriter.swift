@preconcurrency import Glibc

/// Writes a file into `apps.d` atomically.
///
/// Writes the text to a hidden file, which the daemon does not read, and then renames it.
enum AppFileWriter {
  /// Writes the file and creates missing folders.
  ///
  /// Replaces a file of that name only if `replaces` is true; otherwise such a file is a failure.
  static func write(_ text: String, to path: String, replaces: Bool) throws(Failure) {
    guard let slash = path.lastIndex(of: "/") else { throw refusal(path, EINVAL) }
    try makeFolder(String(path[..<slash]))
    guard let hidden = strdup(path[...slash] + ".new-app-XXXXXX") else { throw refusal(path, ENOMEM) }
    defer { free(hidden) }
    let descriptor = mkstemp(hidden)
    guard descriptor >= 0 else { throw refusal(path, errno) }
    defer { unlink(hidden) }
    let isWritten = fill(descriptor, with: text)
    let error = errno
    close(descriptor)
    guard isWritten else { throw refusal(path, error) }
    // link(2) never replaces a file, rename(2) always does.
    guard (replaces ? rename(hidden, path) : link(hidden, path)) == 0 else {
      throw errno == EEXIST ? Self.existing(path) : refusal(path, errno)
    }
  }

  /// The failure of a file that already exists.
  static func existing(_ path: String) -> Failure {
    Failure(
      status: .failed,
      text: "cannot write a new app into \(printable(path)): the file is there; edit it, or replace it with --force")
  }

  private static func fill(_ descriptor: Int32, with text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return fchmod(descriptor, 0o644) == 0 && fsync(descriptor) == 0
  }

  private static func makeFolder(_ folder: String) throws(Failure) {
    guard access(folder, F_OK) != 0 else { return }
    if let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
      try makeFolder(String(folder[..<slash]))
    }
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw refusal(folder, errno) }
  }

  private static func refusal(_ path: String, _ error: Int32) -> Failure {
    let isForbidden = error == EACCES || error == EPERM
    return Failure(
      status: isForbidden ? .notAllowed : .failed,
      text: "cannot write \(printable(path)): \(errorText(error)); "
        + (isForbidden
          ? "write as root for the system's daemon, or with --user for your own" : "--print shows the file"))
  }
}
