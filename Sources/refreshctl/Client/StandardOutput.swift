@preconcurrency import Glibc

/// Standard output, where the results go: what cannot be written there, as on a full disk, is an error.
enum StandardOutput {
  /// Makes the end of the process fail, wherever it comes, if not all results were written.
  static func checkAtExit() {
    atexit { StandardOutput.check() }
  }

  /// Writes what is buffered, so that a reader sees it at once.
  static func flush() {
    if fflush(stdout) != 0 { fail(errno) }
  }

  private static func check() {
    flush()
    // An earlier write failed, and the library has dropped its error number with its text.
    if ferror(stdout) != 0 { fail(nil) }
  }

  /// Ends the process with a message; a reader that has gone, as of `| head -1`, is no error.
  private static func fail(_ code: Int32?) {
    guard code != EPIPE, !hasLostReader else { return }
    let reason = code.map { ": \(errorText($0))" } ?? ""
    warn("cannot write all results to standard output\(reason); write them elsewhere")
    _exit(ExitStatus.failed.rawValue)
  }

  private static var hasLostReader: Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&output, 1, 0) == 1 && output.revents & Int16(POLLERR) != 0
  }
}
