import ArgumentParser
import RefreshAPI

struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "Show what the daemon has learnt of an app: when it is opened, when it has news.",
    discussion: """
      The scheduler plans the next refresh by these numbers. The table [pin] of the app's file replaces a learnt number \
      by a fixed one.
      """)

  @Flag(help: "Forget the learnt numbers, and learn them again.")
  var forget = false

  @OptionGroup var arguments: AppArguments

  func run() throws {
    let (app, connection) = (arguments.app, arguments.connection)
    if forget {
      try connection.ask(ManagerInterface.Forget.self, .init(apps: [app])) { $0.text($1.apps) }
    } else {
      try connection.ask(ManagerInterface.Usage.self, .init(app: app)) { screen, reply in
        reply.habits.map(screen.text)
          ?? ["Nothing is learnt of \(app) yet: it has not been refreshed, or it is not adaptive."]
      }
    }
  }
}
