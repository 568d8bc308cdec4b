import ArgumentParser
import RefreshAPI

struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "Show what the daemon has learnt of an app: when it is opened, when it has news.",
    discussion: """
      The scheduler plans the next refresh by these numbers. The table [pin] of the app's file replaces a learnt number \
      by a fixed one.
      """)

  @Flag(help: "Forget the learnt numbers and the openings that desktops showed, and learn them again.")
  var forget = false

  @OptionGroup var arguments: AppArguments

  func run() throws {
    if forget {
      try arguments.ask(
        ManagerInterface.Forget.self, { .init(apps: [$0]) }, lines: { screen, reply, _ in screen.text(reply.apps) })
    } else {
      try arguments.ask(ManagerInterface.Usage.self, { .init(app: $0) }) { screen, reply, app in
        reply.habits.map { screen.text($0, told: reply.openingsTold, observed: reply.openingsObserved) }
          ?? screen.wrapped("Nothing is learnt of \(app) yet: it has not been refreshed, or it is not adaptive.")
      }
    }
  }
}
