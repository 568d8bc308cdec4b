import ArgumentParser

struct LaunchedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launched", abstract: "Mark apps as started in the background.")

  @OptionGroup var arguments: AppsArguments
  @OptionGroup var lease: LeaseArguments

  func validate() throws { try lease.check(arguments) }

  func run() throws { try lease.send(.launched, arguments) }
}
