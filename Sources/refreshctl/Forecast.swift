import ArgumentParser
import RefreshAPI

struct ForecastCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast", abstract: "Say what will be refreshed when, and what will not and why.",
    discussion: """
      Worked out by the engine that starts the refreshes, as if each ended at once with no data, nobody opened or left \
      an app, nothing were pushed, and network, power and the user's word stayed as they are.
      """)

  @Argument(help: "The id of the app; all if there is none.", completion: .apps)
  var app: String?

  @Option(help: ArgumentHelp("How far to look, 168 at most.", valueName: "number"))
  var hours = 24

  @OptionGroup var connection: ConnectionOptions

  func validate() throws { try checkHours(hours) }

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Forecast.self, .init(hours: hours, app: app))
    try connection.show(reply) { $0.text(reply) }
  }
}

/// Refuses what the daemon would refuse, with the bounds in the text.
func checkHours(_ hours: Int) throws {
  guard (1...168).contains(hours) else {
    throw ValidationError("cannot look \(hours) hours ahead; give --hours from 1 to 168")
  }
}
