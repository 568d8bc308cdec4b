import ArgumentParser

struct BackgroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "background", abstract: "Mark apps as in the background.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.background) }
}
