import ArgumentParser
import RefreshAPI

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "End the pause of all apps.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Resume.self, .init()) { _, _ in ["Nothing is paused."] }
  }
}
