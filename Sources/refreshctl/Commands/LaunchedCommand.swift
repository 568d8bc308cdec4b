import ArgumentParser

struct LaunchedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launched", abstract: "Mark an app as started in the background.")

  @OptionGroup var arguments: AppArguments
  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.launched, arguments) }
}
