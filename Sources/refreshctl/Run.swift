import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Refresh an app now and wait for the outcome.",
    discussion: """
      What the tasks print is passed on, each line behind the name of its task. Ends with 0 for new data, 100 for \
      no data and 1 for a failure. To stop waiting does not stop the refresh.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Option(help: "What the tasks are told started them.")
  var trigger: Spelled<Wire.Trigger>?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    var ending: Wire.Refresh?
    let parameters = ManagerInterface.Run.Parameters(app: app, trigger: trigger?.word)
    try Daemon(connection).stream(ManagerInterface.Run.self, parameters) { reply throws(Failure) in
      if connection.json { try connection.showStep(reply) }
      switch reply.event {
      case .queued: tell("\(app) is being refreshed; another refresh follows")
      case .started(let id): tell("\(app): refresh \(printable(id)) has started")
      case .output(let task, let line): pass(line, from: task)
      case .finished(let refresh):
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
