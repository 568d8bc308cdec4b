import ArgumentParser

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Mark an app as in the foreground: the user looks at it.")

  @OptionGroup var arguments: AppArguments
  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.foreground, arguments) }
}
