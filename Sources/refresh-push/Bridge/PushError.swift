import Glibc

/// The reason why the bridge cannot start, with its exit code.
struct PushError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The exit codes of refresh-push, from `sysexits.h` as in systemd.exec(5).
  enum ExitCode: Int32, Sendable {
    /// The command line is wrong.
    case usage = 64
    /// The stored state is damaged; a person has to decide.
    case damaged = 65
    /// The machine lacks something that the bridge needs.
    case software = 70
    /// The state directory cannot be created or written.
    case cannotCreate = 73
    /// Another bridge uses the same state directory.
    case temporary = 75
    /// push.toml has mistakes.
    case configuration = 78
  }

  let code: ExitCode
  /// A sentence with the remedy, or a line for each mistake.
  let description: String

  init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
