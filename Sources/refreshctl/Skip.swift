import ArgumentParser
import RefreshAPI

struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Pass over the next refresh of apps that would start by time.",
    discussion: "What else asks for a refresh still starts one.")

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Skip.self, .init(apps: apps))
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
