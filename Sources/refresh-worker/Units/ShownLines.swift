import Glibc

/// Writes lines to standard output for those who watch the refresh.
///
/// They are in the journal as well, so a line that nobody takes is dropped and the unit is followed on.
enum ShownLines {
  /// The most bytes that a pipe takes at once or not at all (pipe(7), `PIPE_BUF`).
  private static let longest = 4096

  /// Has a full pipe drop lines and not hold up the process.
  static func open() {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    if flags >= 0 { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
  }

  static func write(_ text: String) {
    let bytes = text.utf8.prefix(longest - 1) + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}
