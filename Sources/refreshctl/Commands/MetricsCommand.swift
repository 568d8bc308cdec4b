import ArgumentParser
import RefreshAPI

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print the daemon's metrics as OpenMetrics text.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Metrics.self, .init()) {
      $1.text.split(separator: "\n").map { printable(String($0)) }
    }
  }
}
