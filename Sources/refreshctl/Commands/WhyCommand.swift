import ArgumentParser
import RefreshAPI

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain when an app is refreshed next, what holds it, and what happened before.")

  @OptionGroup var arguments: AppArguments

  func run() throws {
    try arguments.connection.ask(ManagerInterface.Why.self, .init(app: arguments.app)) { $0.text($1.why) }
  }
}
