import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct TransfersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers", abstract: "Show background transfers: how far they are, or what keeps them.",
    discussion: """
      Those that have ended are shown for a day. With --watch, on a terminal, the table is kept up to date in place; \
      elsewhere there is a line for each change, or with --json a JSON object.
      """)

  @Argument(help: "The id of the app; all if there is none.", completion: .apps)
  var app: String?

  @Option(help: "Only those of this session.")
  var session: String?

  @Flag(help: "Go on, until it is interrupted or the daemon ends.")
  var watch = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    guard watch else {
      let reply = try Daemon(connection).call(
        TransfersInterface.List.self, .init(app: app, session: session))
      return try connection.show(reply) { $0.text(reply.transfers) }
    }
    var board = TransferBoard(descriptor: STDOUT_FILENO)
    try Daemon(connection).stream(TransfersInterface.Watch.self, .init(app: app)) { reply throws(Failure) in
      let transfers = reply.transfers.filter { session == nil || $0.session == session }
      if connection.json {
        return try connection.showStep(
          TransfersInterface.Watch.Reply(transfers: transfers, forgotten: reply.forgotten))
      }
      board.show(transfers, without: reply.forgotten ?? [])
    }
  }
}
