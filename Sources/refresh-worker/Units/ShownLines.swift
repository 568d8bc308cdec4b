import Glibc

/// Writes lines to standard output for people who watch the refresh.
///
/// The journal has the lines too, so a line that nobody reads is dropped.
enum ShownLines {
  /// The most bytes of an atomic write to a pipe (pipe(7), `PIPE_BUF`).
  private static let longest = 4096

  /// Makes writes to a full pipe drop the line instead of blocking.
  static func open() {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    if flags >= 0 { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
  }

  static func write(_ text: String) {
    let bytes = text.utf8.prefix(longest - 1) + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}
