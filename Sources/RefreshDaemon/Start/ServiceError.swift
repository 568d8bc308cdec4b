/// Why the daemon cannot start, or how it ended: what it says, and its exit code.
public struct ServiceError: Error, CustomStringConvertible {
  /// How refreshd exits; the codes are those of `sysexits.h`, as systemd.exec(5) lists them.
  public enum ExitCode: Int32, Sendable {
    /// It was told to stop, and did.
    case ok = 0
    /// The command line is wrong.
    case usage = 64
    /// Something that refreshd counts on in the machine is not there.
    case software = 70
    /// The state directory or the socket cannot be made.
    case cannotCreate = 73
    /// Another daemon is at work on the same state or socket.
    case temporary = 75
    /// The configuration has mistakes.
    case configuration = 78
  }

  /// The code to exit with.
  public let code: ExitCode
  /// One sentence with the remedy, or a line for every mistake.
  public let description: String

  /// Says it in the journal, or on standard error where that is not the journal.
  public func report() {
    for line in description.split(separator: "\n") { DaemonJournal().cannotGoOn(String(line)) }
  }

  init(_ code: ExitCode, _ description: String) {
    self.code = code
    self.description = description
  }
}
