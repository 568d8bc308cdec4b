import ArgumentParser
import RefreshAPI

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print what the daemon counts and measures, as OpenMetrics text.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Metrics.self, .init())
    try connection.show(reply) { _ in reply.text.split(separator: "\n").map { printable(String($0)) } }
  }
}
