@preconcurrency import Glibc

/// A child process in the process group and on the terminal of this process.
struct ChildCommand {
  private let pid: pid_t

  /// The exit codes for a command that does not start, as env(1) and the shells use them.
  private static let notFound: Int32 = 127
  private static let notExecutable: Int32 = 126

  struct NotStarted: Error {
    let text: String
    let exitCode: Int32
  }

  /// Starts the program, which is searched in `PATH`, with the signal mask `mask`.
  init(_ arguments: [String], signalMask mask: sigset_t) throws(NotStarted) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = mask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, arguments[0], nil, &attributes, &pointers, environ)
    guard code == 0 else {
      throw NotStarted(
        text: "cannot start \(arguments[0]): \(errorText(code))",
        exitCode: code == ENOENT ? Self.notFound : Self.notExecutable)
    }
    self.pid = pid
  }

  func send(_ signal: Int32) { kill(pid, signal) }

  /// The exit code of the command after its end: 128 plus the signal number if a signal ended it.
  func exitCode() -> Int32? {
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    // wait(2): the low seven bits are the signal, the next byte the code.
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }
}
