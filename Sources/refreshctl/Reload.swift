import ArgumentParser
import RefreshAPI

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Put the configuration on disk in force, all of it or nothing.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Reload.self, .init())
    try connection.show(reply) { _ in ["The configuration on disk is in force."] }
  }
}
