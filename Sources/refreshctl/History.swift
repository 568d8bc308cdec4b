import ArgumentParser
import RefreshAPI

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show the last refreshes of an app, the newest first.")

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 20

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if limit < 1 { throw ValidationError("cannot show \(limit) refreshes; give a --limit of 1 or more") }
  }

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.History.self, .init(app: app, limit: limit))
    try connection.show(reply) { $0.text(reply, of: app) }
  }
}
