import ArgumentParser
import RefreshAPI

struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Put the intervals of the apps' files in force again, and forget what is learnt.")

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Reset.self, .init(apps: apps))
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
