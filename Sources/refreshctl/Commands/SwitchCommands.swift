import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct DisableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Stop refreshing apps until `enable`.",
    discussion: "The daemon stops refreshes that are running. `run` does not refresh a disabled app either.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Disable.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}

struct EnableCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Refresh disabled apps again.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Enable.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}

struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Skip the next scheduled refresh of apps, or all of them for a time.",
    discussion: """
      Other triggers, such as a push or `run`, still start a refresh, and do not end the skip. A second `skip` before \
      that time changes nothing.
      With --for and --today every scheduled refresh until then is skipped, and retries wait as well.
      """)

  @Option(
    name: .customLong("for"), help: ArgumentHelp("Skip all of them for this time, such as 2h.", valueName: "duration"),
    transform: readDuration)
  var duration: Duration?

  @Flag(help: "Skip all of them until midnight.")
  var today = false

  @Flag(help: "End a skip.")
  var end = false

  @OptionGroup var arguments: AppsArguments

  func validate() throws {
    if [duration != nil, today, end].count(where: { $0 }) > 1 {
      throw ValidationError("cannot combine these options; give one of --for, --today and --end")
    }
    if let duration, duration < .seconds(1) {
      throw ValidationError("cannot skip for less than a second; give --for a longer time, or --end")
    }
  }

  func run() throws {
    let now = Screen(of: STDOUT_FILENO).now
    let until = duration.map { now + $0.inMicroseconds } ?? (today ? Midnight.next(after: now) : end ? 0 : nil)
    try arguments.change(ManagerInterface.Skip.self, { .init(apps: $0, untilMicroseconds: until) }) { screen, reply in
      screen.text(reply.apps) + reply.unchanged.flatMap { screen.nothingSkipped(of: $0, isEnd: end) }
    }
  }
}

extension Screen {
  /// A sentence about an app that a skip did not change.
  fileprivate func nothingSkipped(of app: String, isEnd: Bool) -> [String] {
    let why = isEnd ? "nothing is skipped" : "its next refresh is skipped already, or none is scheduled"
    return wrapped("Nothing changed for \(printable(app)): \(why). `refreshctl why \(printable(app))` says more.")
  }
}

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause all apps until `resume`, or for a time.",
    discussion: "Meanwhile only `run` starts refreshes. Refreshes that are running go on.")

  @Option(
    name: .customLong("for"), help: ArgumentHelp("How long to pause, such as 2h.", valueName: "duration"),
    transform: readDuration)
  var duration: Duration?

  @Flag(help: "Pause until the machine is on mains power.")
  var untilAC = false

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if let duration, duration < .seconds(1) {
      throw ValidationError("cannot pause for less than a second; give --for a longer time, or run `resume`")
    }
    if duration != nil && untilAC {
      throw ValidationError("cannot pause both for a time and until mains power; give --for or --until-ac")
    }
  }

  func run() throws {
    let until = duration.map { Screen(of: STDOUT_FILENO).now + $0.inMicroseconds }
    try connection.ask(
      ManagerInterface.Pause.self, .init(untilMicroseconds: until, untilAC: untilAC ? true : nil)
    ) { screen, reply in
      [untilAC ? screen.sentence(reply.pause) : screen.sentence(ofTimed: reply.pause)]
    }
  }
}

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "End the pause of all apps.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Resume.self, .init()) { _, _ in ["Nothing is paused."] }
  }
}

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change how often apps are refreshed; `reset` undoes it.",
    discussion: """
      An interval is a duration in systemd's format, such as 5min or "1h 30min", or `never`. In the background, `auto` \
      means when it pays, as learnt from your habits; in the foreground, `minimum` means as often as the system allows.
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

struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Return to the intervals of the apps' files; keep what is learnt.",
    discussion: "`refreshctl usage APP --forget` forgets what the daemon has learnt about an app.")

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Reset.self, { .init(apps: $0) }, lines: { $0.text($1.apps) })
  }
}
