import ArgumentParser

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Report that the user has logged in to an app; its refreshes start again.")

  @OptionGroup var arguments: AppArguments

  func run() throws { try arguments.send(.login) }
}
