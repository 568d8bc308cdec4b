import ArgumentParser

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Mark apps as in the foreground: the user looks at them.")

  @OptionGroup var arguments: AppsArguments
  @OptionGroup var lease: LeaseArguments

  func validate() throws { try lease.check(arguments) }

  func run() throws { try lease.send(.foreground, arguments) }
}
