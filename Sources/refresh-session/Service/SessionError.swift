import Systemd

/// The reason for which the program ends.
struct SessionError: Error, CustomStringConvertible {
  /// The exit status (sysexits.h).
  enum Code: Int32 {
    /// Wrong usage.
    case usage = 64
    /// The machine lacks something.
    case software = 70
  }

  let code: Code
  /// The error and the remedy, in one sentence.
  let description: String

  init(_ code: Code, _ description: String) {
    (self.code, self.description) = (code, description)
  }

  init(_ error: SystemdError) { self.init(.software, error.description) }
}
