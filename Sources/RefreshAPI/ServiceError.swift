/// The reason why a service cannot start or go on, and its exit code.
public struct ServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The exit codes of the services, from `sysexits.h`, as systemd.exec(5) lists them.
  public enum ExitCode: Int32, Sendable {
    /// The command line is wrong.
    case usage = 64
    /// The stored state is damaged; a person must decide.
    case damaged = 65
    /// The machine lacks something that the service needs.
    case software = 70
    /// The state directory or the socket cannot be made.
    case cannotCreate = 73
    /// Another process of the service uses the same state or socket.
    case temporary = 75
    /// The configuration has mistakes.
    case configuration = 78
  }

  /// The code to exit with.
  public let code: ExitCode
  /// A sentence with the remedy, or a line for every mistake.
  public let description: String

  /// Makes an error.
  public init(_ code: ExitCode, _ description: String) { (self.code, self.description) = (code, description) }
}
