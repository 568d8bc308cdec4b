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
    try arguments.ask(
      ManagerInterface.History.self, { .init(app: $0, limit: limit) }, lines: { $0.text($1, of: $2) })
  }
}
