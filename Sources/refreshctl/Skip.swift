import ArgumentParser
import RefreshAPI

struct SkipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip", abstract: "Pass over the next refresh of apps that would start by time.",
    discussion: "What else asks for a refresh still starts one. Exactly one is passed over, however often you say so.")

  @Argument(help: "The ids of the apps.", completion: .apps)
  var apps: [String]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(ManagerInterface.Skip.self, .init(apps: apps))
    try connection.show(reply) { screen in screen.text(reply.apps) + reply.unchanged.flatMap(screen.nothingSkipped) }
  }
}

extension Screen {
  /// That a skip changed nothing for an app, and why.
  func nothingSkipped(of app: String) -> [String] {
    wrapped(
      "Nothing changed for \(printable(app)): its next refresh is passed over already, or time starts none. "
        + "`refreshctl why \(printable(app))` says which.")
  }
}
