import ArgumentParser
import RefreshAPI

struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Skip the next scheduled refresh of apps.",
    discussion: """
      Other triggers, such as a push or `run`, still start a refresh. A second `skip` before that time changes nothing.
      """)

  @OptionGroup var arguments: AppsArguments

  func run() throws {
    try arguments.change(ManagerInterface.Skip.self, { .init(apps: $0) }) { screen, reply in
      screen.text(reply.apps) + reply.unchanged.flatMap(screen.nothingSkipped)
    }
  }
}

extension Screen {
  /// A sentence for an app that a skip did not change.
  fileprivate func nothingSkipped(of app: String) -> [String] {
    wrapped(
      "Nothing changed for \(printable(app)): its next refresh is skipped already, or none is scheduled. "
        + "`refreshctl why \(printable(app))` says which.")
  }
}
