import ArgumentParser

struct BackgroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "background", abstract: "Report that the user no longer looks at an app.")

  @OptionGroup var arguments: AppArguments

  func run() throws { try arguments.send(.background) }
}
