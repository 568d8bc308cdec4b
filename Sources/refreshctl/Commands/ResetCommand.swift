import ArgumentParser
import RefreshAPI

struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Return to the intervals of the apps' files, and keep what is learnt.",
    discussion: "`refreshctl usage APP --forget` forgets what the daemon has learnt of an app.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Reset.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}
