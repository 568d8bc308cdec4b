import ArgumentParser

struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Mark apps as logged out; they are not refreshed until `login`.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.logout) }
}
