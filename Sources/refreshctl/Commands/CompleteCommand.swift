import ArgumentParser
import RefreshAPI
import RefreshEngine

struct CompleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete", abstract: "Report the outcome of a task; the task itself runs this.",
    discussion: "refreshd sets $REFRESH_TOKEN and $REFRESH_SOCKET for every task; they name the task and the daemon.")

  @Argument(help: "The outcome of the task.")
  var outcome: EnumArgument<Wire.Outcome>

  @Option(help: "A line for the history.")
  var message: String?

  @Option(
    help: ArgumentHelp("With failed: the least time until the retry.", valueName: "span"), transform: readDuration)
  var retryAfter: Duration?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if retryAfter != nil, outcome.value != .failed {
      throw ValidationError("cannot retry a task that succeeded; leave out --retry-after, or complete with failed")
    }
  }

  func run() throws {
    guard let token = environmentVariable("REFRESH_TOKEN") else {
      throw Failure(
        status: .notFound,
        text: "cannot tell which task to complete: REFRESH_TOKEN is not set; run this from a task of an app")
    }
    let retryAfter = retryAfter?.inMicroseconds
    try connection.ask(
      AppInterface.Complete.self,
      .init(token: token, outcome: outcome.value, message: message, retryAfterMicroseconds: retryAfter)
    ) { _, _ in [] }
  }
}
