import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Skip the next scheduled refresh of apps, or all of them for a time.",
    discussion: """
      Other triggers, such as a push or `run`, still start a refresh, and do not end the skip. A second `skip` before \
      that time changes nothing.
      With --for and --today every scheduled refresh until then is meant, and retries wait as well.
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
      throw ValidationError("cannot skip until two times; give one of --for, --today and --end")
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
