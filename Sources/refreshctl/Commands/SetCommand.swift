import ArgumentParser
import RefreshAPI

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Override the intervals of the apps' files, until `reset`.",
    discussion: """
      An interval is a duration in systemd's format, such as 5min or "1h 30min", or `never`, or `minimum` for as often \
      as the system allows. The next refresh is due one new interval after the start of the last one. A background \
      interval of a duration is the schedule, also of an adaptive app.
      """)

  @Option(help: ArgumentHelp("The interval in the foreground.", valueName: "interval"))
  var foreground: String?

  @Option(help: ArgumentHelp("The interval in the background.", valueName: "interval"))
  var background: String?

  @OptionGroup var arguments: AppsArguments

  func validate() throws {
    if foreground == nil && background == nil {
      throw ValidationError("cannot set nothing; give --foreground or --background, as in `--background 1h`")
    }
  }

  func run() throws {
    try arguments.change(
      ManagerInterface.Set.self, { .init(apps: $0, foregroundInterval: foreground, backgroundInterval: background) },
      lines: { $0.text($1.apps) })
  }
}
