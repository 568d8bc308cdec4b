import ArgumentParser
import RefreshAPI

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show all about an app, or about the daemon.")

  @Argument(help: "The id of the app; without one, the daemon itself.", completion: .apps)
  var app: String?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let daemon = try Daemon(connection)
    if let app {
      let reply = try daemon.call(ManagerInterface.Show.self, .init(app: app))
      try connection.show(reply) { $0.text(reply.app) }
    } else {
      let reply = try daemon.call(ManagerInterface.Status.self, .init())
      warnOfDifference(daemonVersion: reply.status.version)
      try connection.show(reply) { $0.text(reply.status) }
    }
  }
}

/// Says that the daemon is of another version than this command, if it is.
func warnOfDifference(daemonVersion: String) {
  if daemonVersion != refreshdVersion {
    warn("the daemon is version \(printable(daemonVersion)), this command is \(refreshdVersion); restart the daemon")
  }
}
