import ArgumentParser
import RefreshAPI

struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Return to the intervals of the apps' files, and forget what the daemon has learnt."
  )

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Reset.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}
