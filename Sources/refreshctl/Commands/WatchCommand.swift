import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print events as they happen, one line each.",
    discussion: """
      Ends on Ctrl-C. When the daemon ends, as for a restart, it connects again. With --json each line is one JSON \
      object; `watching` is the first one of each connection.
      """)

  @Argument(help: "The ids of the apps; all apps if absent.", completion: .apps)
  var apps: [String] = []

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.naming(apps) { ids throws(Failure) in
      let parameters = ManagerInterface.Watch.Parameters(apps: ids.isEmpty ? nil : ids)
      try connection.daemon.follow(ManagerInterface.Watch.self, parameters) { reply throws(Failure) in
        if connection.json { return try connection.showStep(reply.event) }
        let screen = Screen(of: STDOUT_FILENO)
        guard let line = screen.line(reply.event) else { return }
        print(screen.encoded(line))
        StandardOutput.flush()
      }
    }
  }
}
