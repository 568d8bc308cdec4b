import ArgumentParser

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Report that the user looks at an app.")

  @OptionGroup var arguments: AppArguments
  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.foreground, arguments) }
}
