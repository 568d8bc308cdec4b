import ArgumentParser
import RefreshAPI

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Show the versions of this command and of the daemon.")

  @Flag(help: "Only this command's; asks no daemon.")
  var client = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if client {
      try connection.show(["version": refreshdVersion]) { _ in ["refreshctl \(refreshdVersion)"] }
      return
    }
    let reply = try Daemon(connection).call(ManagerInterface.Version.self, .init())
    warnOfDifference(daemonVersion: reply.version)
    try connection.show(reply) { _ in
      ["refreshctl \(refreshdVersion)", "refreshd \(printable(reply.version)), start \(reply.start)"]
    }
  }
}
