import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct TransfersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers", abstract: "Show the background transfers: their progress, or what they wait for.",
    discussion: """
      Transfers that have ended are listed for a day. With --watch, a terminal shows the table and updates it in \
      place. A file or a pipe gets one line for each change, or with --json one JSON object.
      """)

  @Argument(help: "The id of the app; all apps if absent.", completion: .apps)
  var app: String?

  @Option(help: "Show only the transfers of this session.")
  var session: String?

  @Flag(help: "Show changes until Ctrl-C, or until the daemon ends.")
  var watch = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    guard watch else {
      return try connection.ask(TransfersInterface.List.self, .init(app: app, session: session)) {
        $0.text($1.transfers)
      }
    }
    var board = TransferBoard(descriptor: STDOUT_FILENO)
    try DaemonClient(connection).stream(TransfersInterface.Watch.self, .init(app: app)) { reply throws(Failure) in
      let transfers = reply.transfers.filter { session == nil || $0.session == session }
      if connection.json {
        return try connection.showStep(
          TransfersInterface.Watch.Reply(transfers: transfers, forgotten: reply.forgotten))
      }
      board.show(transfers, without: reply.forgotten ?? [])
    }
  }
}
