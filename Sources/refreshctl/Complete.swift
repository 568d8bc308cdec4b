import ArgumentParser
import RefreshAPI
import RefreshEngine

struct CompleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete", abstract: "Tell the outcome of the task that runs this, from within it.",
    discussion: "The task and the daemon are those of $REFRESH_TOKEN and $REFRESH_SOCKET, which every task has.")

  @Argument(help: "The outcome of the task.")
  var outcome: Spelled<Wire.Outcome>

  @Option(help: "One line for the history.")
  var message: String?

  @Option(
    help: ArgumentHelp("With failed: try again, but not before so long.", valueName: "span"), transform: readDuration)
  var retryAfter: Duration?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if retryAfter != nil, outcome.word != .failed {
      throw ValidationError("cannot try again what went well; leave out --retry-after, or complete with failed")
    }
  }

  func run() throws {
    guard let token = environmentVariable("REFRESH_TOKEN") else {
      throw Failure(
        status: .notFound,
        text: "cannot tell which task to complete: REFRESH_TOKEN is not set; run this from a task of an app")
    }
    let reply = try Daemon(connection).call(
      AppInterface.Complete.self,
      .init(token: token, outcome: outcome.word, message: message, retryAfterMicroseconds: retryAfter?.inMicroseconds))
    try connection.show(reply) { _ in [] }
  }
}
