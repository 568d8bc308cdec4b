import ArgumentParser

struct LaunchedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launched", abstract: "Mark apps as started in the background.")

  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.launched) }
}
