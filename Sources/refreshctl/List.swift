import ArgumentParser
import RefreshAPI

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the apps: phase, next refresh, last outcome, age of the data.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.List.self, .init())
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
