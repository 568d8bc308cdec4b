import ArgumentParser
import RefreshAPI

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain when an app is refreshed next, what holds it, and what happened before.")

  @OptionGroup var arguments: AppArguments

  func run() throws {
    try arguments.ask(
      ManagerInterface.Why.self, { .init(app: $0) }, lines: { screen, reply, _ in screen.text(reply.why) })
  }
}
