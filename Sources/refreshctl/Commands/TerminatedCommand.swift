import ArgumentParser

struct TerminatedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminated", abstract: "Mark apps as quit by the user; their pushes wait until their next start.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.terminated) }
}
