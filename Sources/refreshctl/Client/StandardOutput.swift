@preconcurrency import Glibc

/// Writes the results to standard output, and treats a failed write, as on a full disk, as an error.
enum StandardOutput {
  /// Makes every end of the process fail if not all results were written.
  static func checkAtExit() {
    atexit { StandardOutput.check() }
  }

  /// Flushes the output, so that a reader sees it at once.
  static func flush() {
    if fflush(stdout) != 0 { fail(errno) }
  }

  private static func check() {
    flush()
    // An earlier write failed, and the library has dropped its error number with its text.
    if ferror(stdout) != 0 { fail(nil) }
  }

  /// Ends the process with a message; a reader that has gone, as after `| head -1`, is no error.
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
