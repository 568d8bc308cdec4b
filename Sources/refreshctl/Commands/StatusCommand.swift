import ArgumentParser
import RefreshAPI

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of an app, or of the daemon.")

  @Argument(help: "The id of the app, or a part of it; the daemon itself if absent.", completion: .apps)
  var app: String?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if let app {
      try connection.naming(app) { id throws(Failure) in
        try connection.ask(ManagerInterface.Show.self, .init(app: id)) { $0.text($1.app) }
      }
    } else {
      let reply = try DaemonClient(connection).call(ManagerInterface.Status.self, .init())
      warnOfDifference(daemonVersion: reply.status.version)
      try connection.show(reply) { $0.text(reply.status) }
    }
  }
}
