import Glibc

/// A file that a library opens by its path.
package enum PlainFile {
  /// Checks that a file can be read and is a plain one; the open of a pipe would wait for a writer for ever.
  package static func check(_ path: String) throws(ExchangeFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw ExchangeFailure(
        kind: .permanent,
        message: "cannot read \(path): \(String(cString: strerror(errno))); let user \(geteuid()) read it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ExchangeFailure(kind: .permanent, message: "cannot read \(path): it is no plain file")
    }
  }
}
