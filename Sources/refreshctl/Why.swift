import ArgumentParser
import RefreshAPI

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Say why an app is refreshed when it is, or is not, and what was before.")

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Why.self, .init(app: app))
    try connection.show(reply) { $0.text(reply.why) }
  }
}
