import ArgumentParser

struct TerminatedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminated", abstract: "Report that the user has quit an app; pushes wait until its next start.")

  @OptionGroup var arguments: AppArguments

  func run() throws { try arguments.send(.terminated) }
}
