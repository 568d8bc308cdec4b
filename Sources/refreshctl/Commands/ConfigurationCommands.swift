import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the files for mistakes without applying them.",
    discussion:
      "Warns about secrets that others can read, units that cannot be started, and watched folders that do not exist. "
      + "Exits with 1 if there is a mistake.")

  @Option(
    help: ArgumentHelp("Check this directory instead; needs no daemon.", valueName: "dir"),
    completion: .directory)
  var config: String?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply =
      if let config {
        ManagerInterface.Check.Reply(
          problems: Configuration.problems(in: .directory(config), as: Reader()).map(Wire.Problem.init))
      } else {
        try DaemonClient(connection).call(ManagerInterface.Check.self, .init())
      }
    try connection.show(reply) { $0.text(reply.problems) }
    if reply.problems.contains(where: { $0.isWarning != true }) { throw ExitCode(ExitStatus.failed.rawValue) }
  }
}

struct ReloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Apply the configuration on disk; a new mistake rejects all of it.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Reload.self, .init()) { _, reply in
      ["The configuration on disk is applied."]
        + (reply.held ?? []).map { "An app stays held: \($0.line())" }
    }
  }
}

struct ForgetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Delete everything about a removed app, its history included.",
    discussion: "The daemon does this by itself 90 days after the app's file was removed.")

  @Argument(help: "The complete id of the app.") var app: String
  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Erase.self, .init(app: app)) { _, _ in ["\(printable(app)) is forgotten."] }
  }
}
