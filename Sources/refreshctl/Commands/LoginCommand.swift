import ArgumentParser

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Mark apps as logged in; their refreshes start again.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.login) }
}
