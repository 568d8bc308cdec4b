import ArgumentParser
import RefreshAPI

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Show the versions of this command and of the daemon.")

  @Flag(help: "Show only the version of this command; needs no daemon.")
  var client = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if client {
      try connection.show(["version": refreshdVersion]) { _ in ["refreshctl \(refreshdVersion)"] }
      return
    }
    let reply = try DaemonClient(connection).call(ManagerInterface.Version.self, .init())
    warnOfDifference(daemonVersion: reply.version)
    try connection.show(reply) { _ in
      ["refreshctl \(refreshdVersion)", "refreshd \(printable(reply.version)), start \(reply.start)"]
    }
  }
}

/// Warns if the daemon has another version than this command.
func warnOfDifference(daemonVersion: String) {
  if daemonVersion != refreshdVersion {
    warn("the daemon is version \(printable(daemonVersion)), this command is \(refreshdVersion); restart the daemon")
  }
}
