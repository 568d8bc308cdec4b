import ArgumentParser
import RefreshAPI

struct DisableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Keep apps from being refreshed until `enable`.",
    discussion: "What is running is stopped; `run` does not refresh a disabled app either.")

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Disable.self, .init(apps: apps))
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
