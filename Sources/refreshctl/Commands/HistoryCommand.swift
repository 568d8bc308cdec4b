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
    let connection = arguments.connection
    try connection.naming(arguments.app) { app throws(Failure) in
      let daemon = try DaemonClient(connection)
      let history = try daemon.call(ManagerInterface.History.self, .init(app: app, limit: limit))
      if history.refreshes.isEmpty,
        let guarded = try daemon.call(ManagerInterface.Show.self, .init(app: app)).app.guarded
      {
        throw .isGuard(app, of: guarded.unit)
      }
      try connection.show(history) { $0.text(history, of: app) }
    }
  }
}
