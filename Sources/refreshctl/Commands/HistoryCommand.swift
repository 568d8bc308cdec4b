import ArgumentParser
import RefreshAPI

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show the last refreshes of an app, the newest first.")

  @Option(help: ArgumentHelp("How many to show at most.", valueName: "number"))
  var limit = 20

  @OptionGroup var arguments: AppArguments

  func validate() throws {
    if limit < 1 { throw ValidationError("cannot show \(limit) refreshes; give a --limit of 1 or more") }
  }

  func run() throws {
    let app = arguments.app
    try arguments.connection.ask(ManagerInterface.History.self, .init(app: app, limit: limit)) { $0.text($1, of: app) }
  }
}
