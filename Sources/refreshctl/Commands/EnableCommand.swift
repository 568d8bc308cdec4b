import ArgumentParser
import RefreshAPI

struct EnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Refresh disabled apps again.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.connection.ask(ManagerInterface.Enable.self, .init(apps: arguments.apps)) { $0.text($1.apps) }
  }
}
