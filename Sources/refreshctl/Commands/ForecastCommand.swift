import ArgumentParser
import RefreshAPI

struct ForecastCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast", abstract: "Show which refreshes will start when, and why other apps have none.",
    discussion: """
      The daemon's scheduler computes the forecast. It assumes that each refresh ends at once with no data, that nobody \
      opens or leaves an app, that nothing is pushed, and that the network, the power supply and the user's switches \
      stay as they are.
      """)

  @Argument(help: "The id of the app, or a part of it; all apps if absent.", completion: .apps)
  var app: String?

  @Option(help: ArgumentHelp("How far to look ahead, 1 to 168.", valueName: "number"))
  var hours = 24

  @OptionGroup var connection: ConnectionOptions

  func validate() throws { try checkHours(hours) }

  func run() throws {
    try connection.naming(app.map { [$0] } ?? []) { ids throws(Failure) in
      try connection.ask(ManagerInterface.Forecast.self, .init(hours: hours, app: ids.first)) { $0.text($1) }
    }
  }
}
