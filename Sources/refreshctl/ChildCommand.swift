@preconcurrency import Glibc

/// A command that runs as a child of this process, in its process group and on its terminal.
struct ChildCommand {
  private let pid: pid_t

  /// The exit codes of a command that cannot be started, as env(1) and the shells have them.
  private static let notFound: Int32 = 127
  private static let notExecutable: Int32 = 126

  /// How a command ended that could not be started.
  struct NotStarted: Error {
    let text: String
    let exitCode: Int32
  }

  /// Starts the program, which is looked up in `PATH`, with the signal mask `mask`.
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
        text: "cannot start \(arguments[0]): \(String(cString: strerror(code)))",
        exitCode: code == ENOENT ? Self.notFound : Self.notExecutable)
    }
    self.pid = pid
  }

  /// Passes a signal on.
  func send(_ signal: Int32) { kill(pid, signal) }

  /// The command's exit code once it has ended, 128 and the signal's number for one that a signal ended.
  func exitCode() -> Int32? {
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    // wait(2): the low seven bits are the signal, the next byte the code.
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }
}
