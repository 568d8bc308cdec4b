/// The reason why the daemon cannot start or go on, and its exit code.
public struct ServiceError: Error, CustomStringConvertible {
  /// The exit codes of refreshd, from `sysexits.h`, as systemd.exec(5) lists them.
  public enum ExitCode: Int32, Sendable {
    /// The daemon was stopped.
    case ok = 0
    /// The command line is wrong.
    case usage = 64
    /// The machine lacks something that refreshd needs.
    case software = 70
    /// The state directory or the socket cannot be made.
    case cannotCreate = 73
    /// Another daemon uses the same state or socket.
    case temporary = 75
    /// The configuration has mistakes.
    case configuration = 78
  }

  /// The code to exit with.
  public let code: ExitCode
  /// A sentence with the remedy, or a line for every mistake.
  public let description: String

  /// Writes the error to the journal, or to standard error if that is not the journal.
  public func report() {
    for line in description.split(separator: "\n") { DaemonJournal().cannotGoOn(String(line)) }
  }

  init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
