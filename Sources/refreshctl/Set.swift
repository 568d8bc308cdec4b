import ArgumentParser
import RefreshAPI

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set intervals of apps in place of their files', until `reset`.",
    discussion: """
      An interval is a duration as systemd writes it, such as 5min or "1h 30min", or `never`, or `minimum` for as often \
      as the system allows. The schedule stays: the next refresh is due one new interval after the last start.
      """)

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @Option(help: ArgumentHelp("The interval of the foreground.", valueName: "interval"))
  var foreground: String?

  @Option(help: ArgumentHelp("The interval of the background.", valueName: "interval"))
  var background: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if foreground == nil && background == nil {
      throw ValidationError("cannot set nothing; give --foreground or --background, as in `--background 1h`")
    }
  }

  func run() throws {
    let reply = try Daemon(connection).call(
      ManagerInterface.Set.self,
      .init(apps: apps, foregroundInterval: foreground, backgroundInterval: background))
    try connection.show(reply) { $0.text(reply.apps) }
  }
}
