/// The exit statuses of `refreshctl`; most are from `sysexits.h`.
enum ExitStatus: Int32, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 64
  case badData = 65
  case notFound = 66
  case noDaemon = 69
  case protocolError = 70
  case heldOrNotStored = 75
  case notAllowed = 77
  case noData = 100

  /// The meaning of the status, for the help.
  var meaning: String {
    switch self {
    case .done: "success; `run`: new data"
    case .failed: "the refresh or transfer failed; mistakes in the files; results not written"
    case .usage: "the command line is wrong"
    case .badData: "an interval, a payload or a trace is malformed"
    case .notFound: "no such app, transfer or file, or no such task to complete"
    case .noDaemon: "no daemon answers on the socket"
    case .protocolError: "the daemon's answer does not follow the protocol"
    case .heldOrNotStored: "not now: the app is held, or the change cannot be stored"
    case .notAllowed: "permission denied"
    case .noData: "`run`: no data"
    }
  }

  /// All statuses, for the help of the root command.
  static var list: String {
    allCases.map { "  \(rightAligned("\($0.rawValue)", columns: 3))  \($0.meaning)" }.joined(separator: "\n")
  }
}
