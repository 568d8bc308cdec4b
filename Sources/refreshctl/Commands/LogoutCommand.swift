import ArgumentParser

struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Report that the user has logged out of an app; it is not refreshed until `login`."
  )

  @OptionGroup var arguments: AppArguments

  func run() throws { try arguments.send(.logout) }
}
