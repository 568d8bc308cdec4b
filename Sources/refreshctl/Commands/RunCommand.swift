import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Refresh an app now and wait for the outcome, or schedule a refresh.",
    discussion: """
      Prints the output of the tasks, each line after the name of its task. Exits with 0 for new data, 100 for no \
      data and 1 for a failure. Ctrl-C ends the wait, not the refresh. With --after, exits with 0 once the refresh is \
      scheduled.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Option(help: "The trigger that the tasks see; manual if absent.")
  var trigger: EnumArgument<Wire.Trigger>?

  @Option(
    help: ArgumentHelp("Refresh once, this much later, such as 10min.", valueName: "duration"),
    transform: readDuration)
  var after: Duration?

  @Option(help: "With --after: a reason, which `why` shows.")
  var reason: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if after == nil, reason != nil {
      throw ValidationError("cannot keep a reason for a refresh that starts now; give --after, or leave out --reason")
    }
    if after != nil, trigger != nil {
      throw ValidationError("cannot choose the trigger of a later refresh; leave out --trigger or --after")
    }
    if trigger?.value == .reported {
      throw ValidationError("cannot start a refresh with the trigger reported; run `refreshctl synced` after a sync")
    }
  }

  func run() throws {
    if let after { try schedule(after: after) } else { try refresh() }
  }

  private func schedule(after delay: Duration) throws {
    let earliest = Screen(of: STDOUT_FILENO).now + delay.inMicroseconds
    try connection.ask(
      ManagerInterface.Schedule.self, .init(app: app, earliestMicroseconds: earliest, reason: reason)
    ) { screen, reply in
      ["\(app) will be refreshed \(screen.relativeAndClock(reply.oneShot.earliestMicroseconds))."]
    }
  }

  private func refresh() throws {
    var ending: Wire.Refresh?
    let parameters = ManagerInterface.Run.Parameters(app: app, trigger: trigger?.value)
    try DaemonClient(connection).stream(ManagerInterface.Run.self, parameters) { reply throws(Failure) in
      if connection.json { try connection.showStep(reply) }
      switch reply.event.kind {
      case .queued: report("\(app) is being refreshed; another refresh follows")
      case .held: report("\(app) is waiting: \((reply.event.holds ?? []).namesAndRemedies)")
      case .started: report("\(app): refresh \(printable(reply.event.id ?? "")) has started")
      case .output: printOutput(reply.event.text ?? "", of: reply.event.task ?? "")
      case .finished:
        guard let refresh = reply.event.refresh else { return }
        report(Screen(of: STDERR_FILENO).ending(refresh))
        ending = refresh
      }
    }
    guard let ending else {
      throw Failure(
        status: .protocolError, text: "cannot tell how the refresh of \(app) ended: the daemon did not report it")
    }
    throw ExitCode(ExitStatus(ending.outcome).rawValue)
  }

  /// Prints progress to standard error; standard output holds only the output of the tasks.
  private func report(_ text: String) {
    if !connection.json { fputs(text + "\n", stderr) }
  }

  /// Prints a line of a task's output; on a terminal, without control characters.
  private func printOutput(_ line: String, of task: String) {
    guard !connection.json else { return }
    print("\(task): \(isatty(STDOUT_FILENO) == 1 ? printable(line) : line)")
    fflush(stdout)
  }
}

extension ExitStatus {
  /// The exit status of `run` for an outcome.
  init(_ outcome: Wire.Outcome) {
    switch outcome {
    case .newData: self = .done
    case .noData: self = .noData
    case .failed: self = .failed
    }
  }
}
