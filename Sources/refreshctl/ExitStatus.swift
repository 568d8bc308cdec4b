/// How `refreshctl` ends, for scripts: `sysexits.h` where it has a word for it.
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

  /// What the help says about it.
  var meaning: String {
    switch self {
    case .done: "done; `run`: new data"
    case .failed: "the refresh or the transfer failed; the configuration has mistakes"
    case .usage: "the command line is wrong"
    case .badData: "an interval or a payload cannot be taken as it was written"
    case .notFound: "no such app, transfer or file, or no such task to complete"
    case .noDaemon: "no daemon answers on the socket"
    case .protocolError: "the daemon answered something else than was asked"
    case .heldOrNotStored: "not now: the app is held, or the change cannot be stored"
    case .notAllowed: "not allowed"
    case .noData: "`run`: no data"
    }
  }

  /// The list for the help of the root command.
  static var list: String {
    let rows = allCases.map { status in
      let code = String(status.rawValue)
      return "  " + String(repeating: " ", count: 3 - code.count) + code + "  " + status.meaning
    }
    return rows.joined(separator: "\n")
  }
}
