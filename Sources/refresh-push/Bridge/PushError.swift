import Glibc

/// Why the bridge cannot start: what it says, and its exit code.
struct PushError: Error, Hashable, Sendable, CustomStringConvertible {
  /// How refresh-push exits; the codes are those of `sysexits.h`, as systemd.exec(5) lists them.
  enum ExitCode: Int32, Sendable {
    /// The command line is wrong.
    case usage = 64
    /// What it remembers is damaged: a person has to look at it.
    case damaged = 65
    /// Something that it counts on in the machine is not there.
    case software = 70
    /// The state directory cannot be made or written.
    case cannotCreate = 73
    /// Another bridge is at work on the same state.
    case temporary = 75
    /// push.toml has mistakes.
    case configuration = 78
  }

  /// The code to exit with.
  let code: ExitCode
  /// One sentence with the remedy, or a line for every mistake.
  let description: String

  init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
