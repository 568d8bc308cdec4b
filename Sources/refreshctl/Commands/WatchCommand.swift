import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print events as they happen, one line each.",
    discussion: "Ends on Ctrl-C, or when the daemon ends. With --json each line is one JSON object.")

  @Argument(help: "The ids of the apps; all apps if absent.", completion: .apps)
  var apps: [String] = []

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let parameters = ManagerInterface.Watch.Parameters(apps: apps.isEmpty ? nil : apps)
    try DaemonClient(connection).stream(ManagerInterface.Watch.self, parameters) { reply throws(Failure) in
      if connection.json { return try connection.showStep(reply.event) }
      guard let line = Screen(of: STDOUT_FILENO).line(reply.event) else { return }
      print(line)
      fflush(stdout)
    }
  }
}
