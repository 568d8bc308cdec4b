import ArgumentParser
import RefreshAPI

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the apps: phase, next refresh, last outcome, age of the data.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.List.self, .init()) { $0.text($1) }
  }
}
