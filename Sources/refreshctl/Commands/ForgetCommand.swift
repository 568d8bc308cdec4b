import ArgumentParser
import RefreshAPI

struct ForgetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Forget everything about an app that no file names any more.",
    discussion: "The daemon does so by itself 90 days after the app's file is gone.")

  @Argument(help: "The whole id of the app.") var app: String
  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Erase.self, .init(app: app)) { _, _ in ["\(printable(app)) is forgotten."] }
  }
}
