import ArgumentParser
import RefreshAPI

struct DisableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Stop refreshing apps until `enable`.",
    discussion: "The daemon stops refreshes that are running. `run` does not refresh a disabled app either.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Disable.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}
