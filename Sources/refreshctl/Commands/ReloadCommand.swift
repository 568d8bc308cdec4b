import ArgumentParser
import RefreshAPI

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Apply the configuration on disk; a new mistake rejects all of it.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Reload.self, .init()) { _, reply in
      ["The configuration on disk is in force."]
        + (reply.held ?? []).map { "An app stays held: \($0.line())" }
    }
  }
}
