import ArgumentParser
import RefreshAPI

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "End the pause of all apps.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Resume.self, .init())
    try connection.show(reply) { _ in ["Nothing is paused."] }
  }
}
