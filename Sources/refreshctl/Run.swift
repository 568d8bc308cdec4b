import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Refresh an app now and wait for the outcome, or later.",
    discussion: """
      What the tasks print is passed on, each line behind the name of its task. Ends with 0 for new data, 100 for \
      no data and 1 for a failure. To stop waiting does not stop the refresh. With --after nothing is waited for: it \
      ends with 0 once the refresh is scheduled.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Option(help: "What the tasks are told started them.")
  var trigger: Spelled<Wire.Trigger>?

  @Option(
    help: ArgumentHelp("Not now, but once so much later, such as 10min.", valueName: "duration"),
    transform: readDuration)
  var after: Duration?

  @Option(help: "Why, for who asks later; with --after.")
  var reason: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if after == nil, reason != nil {
      throw ValidationError("cannot keep a reason for a refresh that starts now; give --after, or leave out --reason")
    }
    if after != nil, trigger != nil {
      throw ValidationError("cannot choose the trigger of a later refresh; leave out --trigger or --after")
    }
  }

  func run() throws {
    if let after { try schedule(after: after) } else { try refresh() }
  }

  private func schedule(after delay: Duration) throws {
    let earliest = Screen(of: STDOUT_FILENO).now + delay.inMicroseconds
    let reply = try Daemon(connection).call(
      ManagerInterface.Schedule.self, .init(app: app, earliestMicroseconds: earliest, reason: reason))
    try connection.show(reply) { screen in
      let earliest = reply.oneShot.earliestMicroseconds
      return ["\(app) will be refreshed \(screen.relative(earliest)) (\(screen.clock(earliest)))."]
    }
  }

  private func refresh() throws {
    var ending: Wire.Refresh?
    let parameters = ManagerInterface.Run.Parameters(app: app, trigger: trigger?.word)
    try Daemon(connection).stream(ManagerInterface.Run.self, parameters) { reply throws(Failure) in
      if connection.json { try connection.showStep(reply) }
      switch reply.event.kind {
      case .queued: tell("\(app) is being refreshed; another refresh follows")
      case .held:
        tell(
          "\(app) is waiting: "
            + (reply.event.holds ?? []).map { "\(printable($0.name)) (\(printable($0.remedy)))" }.joined(
              separator: ", "))
      case .started: tell("\(app): refresh \(printable(reply.event.id ?? "")) has started")
      case .output: pass(reply.event.text ?? "", from: reply.event.task ?? "")
      case .finished:
        guard let refresh = reply.event.refresh else { return }
        tell(Screen(of: STDERR_FILENO).ending(refresh))
        ending = refresh
      }
    }
    guard let ending else {
      throw Failure(status: .protocolError, text: "cannot tell how the refresh of \(app) ended: the daemon did not say")
    }
    throw ExitCode(ExitStatus(ending.outcome).rawValue)
  }

  /// Tells a person how it goes; standard output is for what the tasks print.
  private func tell(_ text: String) {
    if !connection.json { fputs(text + "\n", stderr) }
  }

  /// Passes a line of a task on: as it is, but with nothing in it that could take over a terminal.
  private func pass(_ line: String, from task: String) {
    guard !connection.json else { return }
    print("\(task): \(isatty(STDOUT_FILENO) == 1 ? printable(line) : line)")
    fflush(stdout)
  }
}

extension ExitStatus {
  /// How `run` ends for an outcome.
  init(_ outcome: Wire.Outcome) {
    switch outcome {
    case .newData: self = .done
    case .noData: self = .noData
    case .failed: self = .failed
    }
  }
}
