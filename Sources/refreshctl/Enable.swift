import ArgumentParser
import RefreshAPI

struct EnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Let apps be refreshed again that were disabled.")

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Enable.self, .init(apps: apps))
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
