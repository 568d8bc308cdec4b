import ArgumentParser
import RefreshAPI

struct ExpireCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "End a running refresh as its deadline would.",
    discussion: """
      The app is warned now, asked to end 5 s later (SIGTERM), and killed after its grace. The refresh counts as one that ran \
      into its deadline, and is retried as such. A second `expire` asks it to end at once. To try how an app expires, start \
      it with `refreshctl run --no-wait APP`, which prints the id.
      """)

  @Argument(help: "The id of the refresh, such as 12-345, or the id of its app.", completion: .apps)
  var id: String

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    guard Self.isRefresh(id) else {
      return try connection.naming(id) { app throws(Failure) in try expire(refresh: running(of: app)) }
    }
    try expire(refresh: id)
  }

  /// The id of the running refresh of an app.
  private func running(of app: String) throws(Failure) -> String {
    let shown = try DaemonClient(connection).call(ManagerInterface.Show.self, .init(app: app)).app
    if let guarded = shown.guarded { throw .isGuard(app, of: guarded.unit) }
    guard let running = shown.running else {
      throw Failure(
        status: .notFound,
        text: "cannot let \(app) expire: it is not being refreshed; start it with `refreshctl run \(app)`")
    }
    return running.id
  }

  private func expire(refresh: String) throws(Failure) {
    try connection.ask(ManagerInterface.Expire.self, .init(refresh: refresh)) { screen, reply in
      [
        "Refresh \(printable(refresh)) of \(printable(reply.app)) is asked to end \(screen.relativeAndClock(reply.deadlineMicroseconds))."
      ]
    }
  }

  /// Whether a text is the id of a refresh: two numbers.
  private static func isRefresh(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { UInt64($0) != nil }
  }
}
