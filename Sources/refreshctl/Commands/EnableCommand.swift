import ArgumentParser
import RefreshAPI

struct EnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Refresh disabled apps again.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Enable.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}
