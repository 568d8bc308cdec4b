import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "List every mistake of the configuration on disk; changes nothing.",
    discussion:
      "Warns of secrets that others can read, of units that cannot be started, and of folders to be watched that are not "
      + "there. Exits with 1 if there is a mistake.")

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
