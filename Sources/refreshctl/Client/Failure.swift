@preconcurrency import Glibc
import RefreshAPI
import Varlink

/// An error of the command: the message for standard error, and the exit status.
struct Failure: Error, Hashable {
  let status: ExitStatus
  /// The message: the failed action, its object, and a remedy; it begins with "cannot".
  let text: String
  /// The id that the daemon refused, because it does not know the app or the caller may not ask about it.
  var app: String?
}

/// Writes a message about the command itself to standard error; standard output holds only results.
func warn(_ text: String) {
  fputs(Screen(of: STDERR_FILENO).message("refreshctl: \(text)") + "\n", stderr)
}

/// The C library's description of an error number, such as `No such file or directory`.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

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

extension Failure {
  /// A failed connection, with the command that starts the daemon.
  init(_ error: ClientError, _ socket: SocketPath) {
    guard case .unreachable(let reason) = error else {
      self.init(error)
      return
    }
    switch reason.code {
    case EACCES, EPERM:
      self.init(
        status: .notAllowed, text: "\(reason); ask the owner of the socket, or name another daemon with --socket")
    default:
      self.init(status: .noDaemon, text: "\(reason); \(socket.remedy)")
    }
  }

  /// A failed call.
  init(_ error: ClientError) {
    switch error {
    case .unreachable(let reason):
      self.init(status: .noDaemon, text: "\(reason)")
    case .disconnected:
      self.init(
        status: .noDaemon,
        text:
          "cannot get an answer: the daemon closed the connection; read the daemon's journal for the reason, then try again"
      )
    case .malformed(let reason):
      self.init(
        status: .protocolError,
        text: "cannot read the daemon's answer (\(reason)); compare the versions with `refreshctl version`")
    case .failed(let reply):
      self = (Self.declared + Self.declaredOfTransfers).firstNonNil { $0(reply) } ?? Failure(unknown: reply)
    }
  }

  private init(unknown reply: ErrorReply) {
    self.init(
      status: .protocolError,
      text: "cannot do this: the daemon answered \(printable(reply.name)); compare the versions with "
        + "`refreshctl version`")
  }

  /// The errors of the App and Manager interfaces.
  private static let declared: [@Sendable (ErrorReply) -> Failure?] = [
    on { (error: RefreshdInterface.NoSuchApp) in noSuchApp(error.app) },
    on { (error: RefreshdInterface.NotAllowed) in notAllowed(error.app, error.remedy) },
    on { (error: RefreshdInterface.NotStored) in notStored(error.problem) },
    on { (error: RefreshdInterface.TooManyWatches) in
      Failure(
        status: .failed,
        text: printable("cannot watch with more than \(error.limit) calls of one user. \(error.remedy)"))
    },
    on { (error: AppInterface.InvalidPayload) in
      Failure(status: .badData, text: printable("\(error.problem). \(error.remedy)"))
    },
    on { (_: RefreshdInterface.NoSuchToken) in
      Failure(
        status: .notFound,
        text: "cannot complete the task: it has ended; complete it while it runs, before its deadline")
    },
    on { (error: AppInterface.AlreadyCompleted) in
      Failure(
        status: .failed,
        text: "cannot complete the task a second time: its outcome is \(error.outcome.words); complete it once")
    },
    on { (error: ManagerInterface.NoSuchRefresh) in
      Failure(
        status: .notFound,
        text: "cannot find a running refresh \(printable(error.refresh)); `refreshctl list` shows what runs")
    },
    on { (error: ManagerInterface.Held) in
      let holds = error.holds.map { "\($0.name) (\($0.remedy))" }.joined(separator: ", ")
      return Failure(status: .heldOrNotStored, text: "cannot refresh \(error.app): it is held: \(holds)")
    },
    on { (error: RefreshdInterface.IsGuard) in isGuard(error.app, of: error.unit) },
    on { (error: ManagerInterface.InUse) in
      Failure(status: .failed, text: "cannot forget \(error.app) while it is in use; \(printable(error.remedy))")
    },
    on { (error: ManagerInterface.InvalidInterval) in
      Failure(status: .badData, text: error.problem)
    },
    on { (error: ManagerInterface.NotReadable) in
      Failure(status: .failed, text: "cannot read the history: \(error.problem)")
    },
    on { (error: ManagerInterface.BadConfiguration) in
      let lines = error.problems.map { $0.line() }.joined(separator: "\n")
      return Failure(
        status: .failed, text: "cannot apply the configuration, so the previous one stays in force:\n\(lines)")
    },
    on { (error: InvalidParameter) in
      Failure(
        status: .usage, text: "cannot use the value of `\(error.parameter)`; see --help for the values it accepts")
    },
  ]

  /// The errors of the Transfers interface.
  private static let declaredOfTransfers: [@Sendable (ErrorReply) -> Failure?] = [
    on { (error: TransfersInterface.NoSuchTransfer) in
      Failure(
        status: .notFound,
        text: "cannot find transfer \(error.id), so nothing is changed; `refreshctl transfers` lists them")
    },
    on { (error: TransfersInterface.AlreadyEnded) in
      Failure(
        status: .failed,
        text: "cannot change transfer \(error.id), so nothing is changed: it has ended (\(error.result.rawValue)); "
          + "leave it out")
    },
    on { (error: TransfersInterface.InvalidRequest) in
      let field = String(error.field.map { $0 == "_" ? "-" : $0 })
      return Failure(status: .usage, text: printable("\(error.reason) (\(field)); \(error.remedy)"))
    },
    on { (error: TransfersInterface.QueueFull) in
      Failure(
        status: .heldOrNotStored,
        text: printable(
          "cannot queue more than \(error.limit) \(error.bound ?? "transfers"); "
            + (error.remedy ?? "wait for some to end")))
    },
  ]

  /// The failure of a command about refreshes for a guard, which does not refresh anything.
  static func isGuard(_ app: String, of unit: String) -> Failure {
    Failure(
      status: .failed,
      text: printable(
        "cannot refresh \(app): it guards \(unit) and refreshes nothing; `refreshctl why \(app)` says whether the "
          + "unit may run"))
  }

  private static func notStored(_ problem: String) -> Failure {
    Failure(status: .heldOrNotStored, text: "cannot keep the change, so nothing is changed: \(problem)")
  }

  private static func noSuchApp(_ app: String) -> Failure {
    Failure(
      status: .notFound,
      text: "cannot find the app \(printable(app)): no configuration file defines it; `refreshctl list` shows the apps",
      app: app)
  }

  private static func notAllowed(_ app: String?, _ remedy: String) -> Failure {
    Failure(
      status: .notAllowed, text: "cannot do this\(app.map { " for \($0)" } ?? ""): not allowed. \(remedy)", app: app)
  }

  private static func on<Parameters: VarlinkError & SendableMetatype>(
    _ failure: @escaping @Sendable (Parameters) -> Failure
  ) -> @Sendable (ErrorReply) -> Failure? {
    { reply in
      guard reply.name == Parameters.name else { return nil }
      // If the parameters cannot be read, the caller reports the name of the error, so nothing is hidden.
      guard let parameters = try? reply.parameters(as: Parameters.self) else { return nil }
      return failure(parameters)
    }
  }
}

extension Array {
  fileprivate func firstNonNil<Result>(_ transform: (Element) -> Result?) -> Result? {
    lazy.compactMap(transform).first
  }
}
