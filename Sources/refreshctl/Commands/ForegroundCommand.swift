import ArgumentParser

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Mark apps as in the foreground: the user looks at them.")

  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.foreground) }
}
